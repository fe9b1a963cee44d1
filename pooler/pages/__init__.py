"""The report: plain data to one HTML page with drawings, without reading or computing a result."""
