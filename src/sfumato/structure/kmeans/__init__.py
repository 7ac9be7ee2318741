"""k-means on codes: distances are sums of look-ups, and centres follow from histograms by cluster."""
