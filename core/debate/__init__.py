"""One file or folder per argument; the essay on top names the paper, its claim, and what we do differently."""
