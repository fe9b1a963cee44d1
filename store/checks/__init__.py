"""What must hold in every collection, check by check; each names its faults and what to do."""
