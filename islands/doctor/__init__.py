"""Check a machine: software, devices and transports between ranks."""
