import type { SessionScope } from '../../store/session/session.ts'
import { type Finding, notObserved } from '../verdict.ts'

/** The accounts that one process judges: share `index` of `of`, from 0, by a hash of the account's name. */
export interface AccountShare {
  readonly index: number
  readonly of: number
}

export function scopeOfShare(share: AccountShare | undefined): SessionScope {
  if (share === undefined) return {}
  return { only: `md5_number_lower(coalesce(account, key_fp, '')) % ${share.of} = ${share.index}` }
}

/** Rules that compare accounts with each other, which one share cannot decide. */
const acrossAccounts: readonly string[] = ['AUTH-06']

export function asOfShare(finding: Finding): Finding {
  if (!acrossAccounts.includes(finding.rule) || finding.verdict.verdict === 'fail') return finding
  return { ...finding, verdict: notObserved('an audit of all accounts') }
}
