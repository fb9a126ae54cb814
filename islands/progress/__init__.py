"""Where a run stands and what it comes to: plain records that every room shares."""
