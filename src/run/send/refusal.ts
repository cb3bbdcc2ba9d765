import { withoutHostile } from '../../user/hostile.ts'
import { remedyOf } from '../../user/remedies.ts'

/** A response that is not a completion. */
export interface Refusal {
  /** Null without a response head; `reason` is then the cause. */
  readonly status: number | null
  readonly reason: string | null
  readonly body: string | null
}

const longestBody = 300

/** A word `model` of an error, as in `model_not_found`: not in a page of a proxy, and not the path of a list. */
const namesModel = /^(?!<).*(?<![a-z\d/])models?(?![a-z])/is

/**
 * A sentence on a refusal, and one on the remedy.
 *
 * @param sent the request: its method and URL
 */
export function refusalOf(sent: string, { status, reason, body }: Refusal): string {
  if (status === null) {
    const remedy = sent.includes(' https://')
      ? 'or, if it requires a client certificate, name it in cert_file and key_file of the scenario'
      : 'perhaps it begins with https://'
    return `${sent} got no HTTP answer (${reason}). Correct the base URL; ${remedy}.`
  }
  const text = withoutHostile(body ?? '', () => ' ').trim()
  const shown = text.length > longestBody ? `${text.slice(0, longestBody)}…` : text
  const remedy =
    status === 404 && namesModel.test(text)
      ? 'Correct the model; the service lists those that it has.'
      : remedyOf(status)
  return `${sent} answered ${status}${shown === '' ? '' : `: ${shown}`}\n${remedy}`
}
