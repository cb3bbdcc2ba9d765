-- Sources whose lines are charges of a bill.
SELECT DISTINCT source FROM usage_bills
