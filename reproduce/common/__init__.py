"""What the scripts share: data, measurements, stored results, verdicts, charts and the page."""
