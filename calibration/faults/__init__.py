"""The service among faults: processes that are killed, networks that are cut, disks that are full, clocks that jump."""
