"""What this machine has for a run, tried out: software, devices, and the roads between ranks."""
