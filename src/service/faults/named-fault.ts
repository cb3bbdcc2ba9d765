import { nearest } from '../../user/nearest.ts'
import { userError } from '../../user/user-error.ts'
import type { Random } from '../random.ts'

/** What a fault of either list says of itself: those of promises, and those of billing in money. */
export interface NamedFault {
  /** The name for `--fault`. */
  readonly name: string
  /** The effect in a few words. */
  readonly does: string
  /** Default share of the requests that it strikes. */
  readonly probability: number
}

/** Which of the requests that it can strike a fault strikes: a share, or one of them. */
export type Befalls = { readonly probability: number } | { readonly nth: number }

/** A fault as `--fault` names it. */
interface GivenFault<F> {
  readonly fault: F
  /** What stands behind the mark; undefined without one. */
  readonly marked: string | undefined
  readonly befalls: Befalls
}

/**
 * Reads `double-charge`, `double-charge=0.5` and `double-charge=#300` (only the 300th request), each with something marked
 * before the share: `token-inflation:1.05=0.25`, `stream-free@logged=#3`.
 *
 * @param kind of the faults, for errors
 * @throws UserError that suggests the nearest name
 */
export function readFault<F extends NamedFault>(
  text: string,
  faults: readonly F[],
  mark: ':' | '@',
  kind = '',
): GivenFault<F> {
  const [before, share] = cutAt(text, '=')
  const [name, marked] = cutAt(before, mark)
  const fault = faults.find((each) => each.name === name)
  if (fault === undefined) {
    const names = faults.map((each) => each.name)
    const alike = names.filter((each) => each.includes(name))
    const meant = nearest(name, names) ?? (alike.length < 8 ? alike.join(', ') : '')
    const hint = meant === '' ? '' : `Did you mean ${meant}? `
    throw userError.service(
      `--fault: no fault${kind} is named "${name}". ${hint}assay serve --list-faults prints all.`,
    )
  }
  if (share !== undefined && /^#[1-9][0-9]{0,9}$/.test(share)) {
    return { fault, marked, befalls: { nth: Number(share.slice(1)) } }
  }
  const probability = share === undefined ? fault.probability : Number(share)
  if (!(probability > 0 && probability <= 1)) {
    throw userError.service(
      `--fault ${name}: expected #300 (the 300th request alone) or a probability above 0 and at most 1; got "${share}"`,
    )
  }
  return { fault, marked, befalls: { probability } }
}

/** Draws for one request after the other whether a fault strikes it. */
export function strikesOf(befalls: Befalls): (random: Random) => boolean {
  let seen = 0
  return (random) =>
    'nth' in befalls
      ? ++seen === befalls.nth
      : befalls.probability === 1 || random() < befalls.probability
}

/** What stands before the first such sign, and behind it. */
function cutAt(text: string, sign: string): readonly [string, string | undefined] {
  const at = text.indexOf(sign)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}
