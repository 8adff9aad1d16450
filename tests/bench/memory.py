"""What a process takes."""

import resource

KIBIBYTES = 1024


def peak() -> float:
    """The most memory this process had so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / KIBIBYTES
