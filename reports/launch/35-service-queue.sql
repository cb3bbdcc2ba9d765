-- optional: true
-- section: Service
-- note: Requests that ran and waited in the service, by its own metrics, as sampled at each look. A queue between two looks is not seen.
SELECT at_s, gauge, value AS requests FROM shown_service_gauges ORDER BY gauge, at_s
