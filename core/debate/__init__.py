"""One file per argument; the essay on top of each names the paper, its claim, and what we do differently. None imports another."""
