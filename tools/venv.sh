#!/bin/sh
# Makes the virtual environment named by $1, with $PYTHON or the first Python 3.11+ that is on the path.
# Exits with a readable sentence where the machine lacks something that only its owner can install.
set -eu
venv=$1

recent() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

for candidate in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
    if recent "$candidate"; then
        python=$candidate
        break
    fi
done
if [ -z "${python:-}" ]; then
    found=$("${PYTHON:-python3}" --version 2>&1) || found="no ${PYTHON:-python3}"
    echo "Python 3.11 or newer is needed; found: $found. Install one, or name it: make PYTHON=/path/to/python3.12 ..." >&2
    exit 1
fi

# Debian and Ubuntu ship ensurepip apart from Python.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package="python3-venv"
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "$("$python" --version) lacks ensurepip: installing $package with apt-get."
        apt-get -qq update >/dev/null && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y "$package" >/dev/null </dev/null || true
    fi
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        echo "$("$python" --version) cannot make virtual environments: install $package (on Debian and Ubuntu: sudo apt-get install $package) and try again." >&2
        exit 1
    fi
fi

# What is there is kept where it works, so that an interrupted set-up goes on; the rest is made anew.
recent "$venv/bin/python" && clear= || clear=--clear
echo "Making $venv with $("$python" --version)."
"$python" -m venv $clear "$venv"
