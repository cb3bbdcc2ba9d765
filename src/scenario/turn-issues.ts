import { generating } from '../contract/request.ts'
import { type JsonObject, objectOf } from '../user/json.ts'
import { type Found, foundIf, type Path, unknownName } from './issues.ts'
import { namesIn } from './loose.ts'

/** Requests of one task at most, over all its turns. */
const mostRequests = 10_000

export function turnIssues(
  turns: readonly JsonObject[],
  steps: JsonObject,
  path: Path,
): readonly Found[] {
  const names = turns.map(({ name }) => String(name))
  const requests = turns.reduce((sum, turn) => sum + mostOf(turn), 0)
  return [
    ...turns.flatMap((turn, at) => {
      const place = [...path, at]
      const isRepeated = typeof turn.name === 'string' && names.indexOf(turn.name) < at
      return [
        ...foundIf(place, [
          isRepeated,
          `another turn has the name ${JSON.stringify(names[at])}; give each its own.`,
          'name',
        ]),
        ...stepIssues(turn.step, steps, [...place, 'step']),
        // What waits for a name waits for the first turn that has it.
        ...(isRepeated ? [] : waitIssues(turn, names[at]!, turns, place)),
      ]
    }),
    ...foundIf(path, [
      requests > mostRequests,
      `expected at most ${mostRequests} requests in a task; got ${requests}.`,
    ]),
  ]
}

/** Issues of what a turn waits for, and whose answers it takes. */
function waitIssues(
  { after, takes, join }: JsonObject,
  own: string,
  turns: readonly JsonObject[],
  path: Path,
): readonly Found[] {
  const names = turns.map(({ name }) => String(name))
  const before = ancestors(own, turns)
  const way = before.has(own) ? wayBetween(before, own) : []
  const through = way.length === 0 ? '' : `, through ${way.join(', ')}`
  const waiting = (name: string) => turns.filter((turn) => namesIn(turn.after).includes(name))
  const shared = namesIn(after).find((name) => waiting(name).length > 1)
  const unknown = (field: 'after' | 'takes', given: unknown) =>
    namesIn(given).map(
      (name) => [!names.includes(name), unknownName(name, names, 'turn'), field] as const,
    )
  return foundIf(
    path,
    ...unknown('after', after),
    ...unknown('takes', takes),
    [before.has(own), `turn ${own} waits for itself${through}.`, 'after'],
    ...namesIn(takes).map((name) => {
      const message = `turn ${own} takes the answer of ${name}, but does not wait for it; name it in after.`
      return [names.includes(name) && !before.has(name), message, 'takes'] as const
    }),
    [
      join === 'first' && shared !== undefined,
      `join: first aborts ${shared}, for which another turn waits.`,
      'join',
    ],
  )
}

/** The calls of tools are written as the endpoint wants them, so a conversation stays with one. */
export function toolIssues(
  turns: readonly JsonObject[],
  steps: JsonObject,
  path: Path,
): readonly Found[] {
  const at = turns.findIndex(({ tools }) => tools === true)
  if (at === -1) return []
  // A step that is not there has an issue of its own.
  const endpointOf = ({ step }: JsonObject) => objectOf(steps[String(step)]).endpoint
  const own = endpointOf(turns[at]!)
  const other = turns.find((turn) => ![undefined, own].includes(endpointOf(turn)))
  if (own === undefined || other === undefined) return []
  return [
    {
      path: [...path, at, 'tools'],
      message: `a task with tools keeps to one endpoint; turn ${turns[at]!.name} is of ${own}, turn ${other.name} of ${endpointOf(other)}.`,
    },
  ]
}

function mostOf({ repeat, children }: JsonObject): number {
  const times = typeof repeat === 'number' ? repeat : Number(objectOf(repeat).max ?? 1)
  return times * Number(children ?? 1)
}

/** A turn needs an answer with a text, and sends what its task decides. */
function stepIssues(name: unknown, steps: JsonObject, path: Path): readonly Found[] {
  if (typeof name !== 'string') return []
  const known = Object.keys(steps)
  if (!known.includes(name)) return [{ path, message: unknownName(name, known, 'step') }]
  const step = objectOf(steps[name])
  const unfit = (['wrong', 'abort', 'session'] as const).find((field) => step[field] !== undefined)
  if (unfit !== undefined) {
    return [{ path, message: `step ${name} has ${unfit}, which a turn of a task cannot have.` }]
  }
  return (generating as readonly unknown[]).includes(step.endpoint)
    ? []
    : [{ path, message: `a turn is a request of ${generating.join(', ')}; step ${name} is none.` }]
}

/** The turns that must end before a turn, the nearest first, each with the turn that waits for it. */
function ancestors(name: string, turns: readonly JsonObject[]): ReadonlyMap<string, string> {
  const waits = new Map<string, string>()
  const reached = [name]
  for (const of of reached) {
    for (const before of namesIn(turns.find((turn) => turn.name === of)?.after)) {
      if (waits.has(before)) continue
      waits.set(before, of)
      reached.push(before)
    }
  }
  return waits
}

/** The turns between a turn and itself, in a circle: `a` waits for `b`, `b` for `c`, `c` for `a` gives b and c. */
function wayBetween(waits: ReadonlyMap<string, string>, name: string): readonly string[] {
  const way: string[] = []
  for (let of = waits.get(name)!; of !== name; of = waits.get(of)!) way.unshift(of)
  return way
}
