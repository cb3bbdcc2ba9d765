import { userError } from '../../user/user-error.ts'
import type { Behaviour, Kit } from '../behaviour.ts'
import type { Chance } from '../chance.ts'
import { type Befalls, type NamedFault, readFault, strikesOf } from './named-fault.ts'

/** A deliberately broken promise. */
export interface Fault extends NamedFault {
  /** The rule of the rulebook that must notice the fault. */
  readonly rule: string
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

/** A fault that is switched on. */
export interface ActiveFault {
  readonly fault: Fault
  readonly strength?: number | undefined
  readonly befalls: Befalls
}

/** Reads a fault by name; those with a strength may name it: `token-inflation:1.05`. @throws UserError */
function parseFault(text: string, faults: readonly Fault[]): ActiveFault {
  const { fault, marked, befalls } = readFault(text, faults, ':')
  const { name, strength } = fault
  if (marked === undefined) return { fault, strength, befalls }
  if (strength === undefined || !(Number(marked) > 0)) {
    throw userError.service(
      `--fault ${name}: expected ${strength === undefined ? 'no strength after the name' : `a strength above 0, such as ${name}:${strength}`}; got ":${marked}"`,
    )
  }
  return { fault, strength: Number(marked), befalls }
}

/** @throws UserError as `parseFault` does, and for a fault that is named twice */
export function parseFaults(
  texts: readonly (string | Fault)[],
  faults: readonly Fault[],
): readonly ActiveFault[] {
  const active = texts.map((text) =>
    typeof text === 'string'
      ? parseFault(text, faults)
      : { fault: text, befalls: { probability: text.probability } },
  )
  const listed = active.flatMap(({ fault }) => (faults.includes(fault) ? [fault.name] : []))
  const twice = listed.find((name, at) => listed.indexOf(name) !== at)
  if (twice !== undefined) throw userError.service(`--fault ${twice}: expected once; got it twice`)
  return active
}

/** The honest behaviour with the faults' functions in place of its own, in order. */
export function withFaults(honest: Behaviour, faults: readonly ActiveFault[], kit: Kit): Behaviour {
  let behaviour = honest
  for (const active of faults) {
    const below = behaviour
    const broken = active.fault.breaks(below, kit, active.strength ?? active.fault.strength ?? 1)
    const always = 'probability' in active.befalls && active.befalls.probability === 1
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
  const strikes = strikesOf(active.befalls)
  return Object.fromEntries(
    Object.entries(broken).map(([point, bad]) => {
      const good = below[point as keyof Behaviour]
      return [
        point,
        (subject: Chance, ...rest: unknown[]) =>
          // Both have the type of this point, but TypeScript cannot follow that through a loop.
          (subject.struckBy(active.fault, strikes) ? (bad as Loose) : (good as Loose))(
            subject,
            ...rest,
          ),
      ]
    }),
  )
}

type Loose = (subject: Chance, ...rest: unknown[]) => unknown
