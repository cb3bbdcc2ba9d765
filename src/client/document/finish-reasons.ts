/** Words in the reasons of services whose generation failed: `error`, `abort`, `insufficient_system_resource`. */
const failures =
  /error|fail|abort|cancel|time_?d?_?out|overload|capacity|exception|interrupt|insufficient|unavailable|malformed|disconnect|crash|killed/i

/** Whether a finish reason says that the generation failed. Reasons that are not known are taken for an end. */
export const isFailure = (reason: string): boolean => failures.test(reason)
