"""InfoGain Mondrian: the table is cut into regions of many dimensions, a competitor named by 002.

LeFevre, DeWitt and Ramakrishnan, "Workload-aware anonymization", 2006. This is local recoding: one age may be
shown as `[17-37)` in one record and as `[25-44)` in another, because each record shows the bounds of its
region. That keeps more of the structure for the same k, and 002 section 1 says what it costs: values of one
column overlap, so a recipient cannot count ages, compare two records, or give most programs the column as it
is. Released columns are marked `region` for that reason; regions.json says which records fell where and why.
"""
