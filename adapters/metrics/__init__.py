"""What monitoring systems are told."""
