import { headerIssue } from '../contract/request.ts'

/** Headers are stored as evidence, but a key must not be. */
const keyHeader = /(?:^|-)(?:authorization|cookie|api-?key|(?:auth|access)-token)$/i

/** What is wrong with a header that a scenario sends; null if nothing is. */
export function scenarioHeaderIssue(name: string, value: string): string | null {
  const issue = keyHeader.test(name)
    ? `header ${name} carries a key, which must not be in a scenario; name its source under keys`
    : headerIssue(name, value)
  return issue === null ? null : `${issue}.`
}
