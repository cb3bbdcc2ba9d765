import { nearest } from '../../user/nearest.ts'
import { UserError } from '../../user/user-error.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Chance } from '../chance.ts'
import type { Random } from '../random.ts'

/** A deliberately broken promise. */
export interface Fault {
  /** The name for `--fault`. */
  readonly name: string
  /** The rule of the rulebook that must notice the fault. */
  readonly rule: string
  /** The effect in a few words. */
  readonly does: string
  /** Default share of the requests that it strikes. */
  readonly probability: number
  /** How much it changes, where that can be said as a number: a factor, or tokens. */
  readonly strength?: number
  /** The functions of the service that the fault puts in place of the `honest` ones. */
  breaks(honest: Behaviour, kit: Kit, strength: number): Partial<Behaviour>
}

/** Defines a fault that strikes every request or a share of them. */
export function fault(
  name: string,
  rule: string,
  does: string,
  breaks: Fault['breaks'],
  probability = 1,
): Fault {
  return { name, rule, does, probability, breaks }
}

/** A fault with a strength, which its name can change: `token-inflation:1.05`. */
export function strongFault(
  name: string,
  rule: string,
  does: string,
  strength: number,
  breaks: Fault['breaks'],
): Fault {
  return { ...fault(name, rule, does, breaks), strength }
}

/** A fault that is switched on, for a share of the requests that it can strike or for one of them. */
export type ActiveFault = { readonly fault: Fault; readonly strength?: number } & Befalls
type Befalls = { readonly probability: number } | { readonly nth: number }

/**
 * Reads `double-charge`, `double-charge=0.5` and `double-charge=#300` (only the 300th request), and before the share the strength
 * of those that have one: `token-inflation:1.05=0.25`.
 *
 * @throws UserError that suggests the nearest name
 */
function parseFault(text: string, faults: readonly Fault[]): ActiveFault {
  const at = text.indexOf('=')
  const [name = '', strong] = (at < 0 ? text : text.slice(0, at)).split(':', 2)
  const share = at < 0 ? undefined : text.slice(at + 1)
  const fault = faults.find((each) => each.name === name)
  if (fault === undefined) {
    const names = faults.map((each) => each.name)
    const alike = names.filter((each) => each.includes(name))
    const meant = nearest(name, names) ?? (alike.length < 8 ? alike.join(', ') : '')
    const hint = meant === '' ? '' : `Did you mean ${meant}? `
    throw new UserError(
      'service',
      `--fault: no fault is named "${name}". ${hint}assay serve --list-faults prints all.`,
    )
  }
  const strength = strong === undefined ? fault.strength : Number(strong)
  if (strong !== undefined && (fault.strength === undefined || !(Number(strong) > 0))) {
    throw new UserError(
      'service',
      `--fault ${name}: expected ${fault.strength === undefined ? 'no strength after the name' : `a strength above 0, such as ${name}:${fault.strength}`}; got ":${strong}"`,
    )
  }
  const active = { fault, ...(strength === undefined ? {} : { strength }) }
  if (share !== undefined && /^#[1-9][0-9]{0,9}$/.test(share)) {
    return { ...active, nth: Number(share.slice(1)) }
  }
  const probability = share === undefined ? fault.probability : Number(share)
  if (!(probability > 0 && probability <= 1)) {
    throw new UserError(
      'service',
      `--fault ${name}: expected #300 (the 300th request alone) or a probability above 0 and at most 1; got "${share}"`,
    )
  }
  return { ...active, probability }
}

/** @throws UserError as `parseFault` does, and for a fault that is named twice */
export function parseFaults(
  texts: readonly (string | Fault)[],
  faults: readonly Fault[],
): readonly ActiveFault[] {
  const active = texts.map((text) =>
    typeof text === 'string'
      ? parseFault(text, faults)
      : { fault: text, probability: text.probability },
  )
  const listed = active.flatMap(({ fault }) => (faults.includes(fault) ? [fault.name] : []))
  const twice = listed.find((name, at) => listed.indexOf(name) !== at)
  if (twice !== undefined)
    throw new UserError('service', `--fault ${twice}: expected once; got it twice`)
  return active
}

/** The honest behaviour with the faults' functions in place of its own, in order. */
export function withFaults(honest: Behaviour, faults: readonly ActiveFault[], kit: Kit): Behaviour {
  let behaviour = honest
  for (const active of faults) {
    const below = behaviour
    const broken = active.fault.breaks(below, kit, active.strength ?? active.fault.strength ?? 1)
    const always = 'probability' in active && active.probability === 1
    behaviour = { ...below, ...(always ? broken : sometimes(active, below, broken)) }
  }
  return behaviour
}

/** Makes the broken functions run only for struck calls. One draw decides for all parts of a call. */
function sometimes(
  active: ActiveFault,
  below: Behaviour,
  broken: Partial<Behaviour>,
): Partial<Behaviour> {
  let drawn = 0
  const draws = (random: Random) =>
    'nth' in active ? ++drawn === active.nth : random() < active.probability
  return Object.fromEntries(
    Object.entries(broken).map(([point, bad]) => {
      const good = below[point as keyof Behaviour]
      return [
        point,
        (subject: Chance, ...rest: unknown[]) =>
          // Both have the type of this point, but TypeScript cannot follow that through a loop.
          (subject.struckBy(active.fault, draws) ? (bad as Loose) : (good as Loose))(
            subject,
            ...rest,
          ),
      ]
    }),
  )
}

type Loose = (subject: Chance, ...rest: unknown[]) => unknown
