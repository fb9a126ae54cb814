"""What this machine has for a run, tried out: software, devices, transports between ranks."""
