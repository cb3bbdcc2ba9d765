import { entryFor } from '../../../contract/price-entry.ts'
import { isEqual } from '../../../money/rational.ts'
import type { PriceOf } from '../../../price/judge/price-judge.ts'
import { isSuccess, type PricedRequest } from '../../../price/judge/request.ts'
import { outputOf, type Part, promptOf, usageFlags } from '../../../tokens/usage.ts'

/** An issue of a usage, in words; `isSure` if no honest service has it. */
export interface UsageIssue {
  readonly request: PricedRequest
  readonly summary: string
}

/** Issues of a usage in itself, with the requests that report one. */
export function issuesInItself(requests: readonly PricedRequest[]): readonly UsageIssue[] {
  const usual = usualTotals(requests)
  return requests.flatMap((request) => {
    const { usage, eventUsages, requestedModel } = request
    if (usage === null) return []
    const flags = usage.flags
      // Reads and writes of OpenAI may overlap by a few tokens.
      .filter((flag) => flag !== 'parts>prompt' || !isSmallOverlap(request))
      // What nobody can read contradicts nothing.
      .filter((flag) => flag !== 'unreadable-count')
      .map((flag) => usageFlags[flag])
    const other = usual.get(requestedModel)
    const isOther = other !== undefined && usage.totalIs !== null && usage.totalIs !== other
    const totals = isOther ? ['the total counts reasoning in some answers of the model only'] : []
    const falls = eventUsages.some((later, at) => {
      // How much of the output was reasoning may be told at the end alone.
      const before = at === 0 ? 0 : (outputOf(eventUsages[at - 1]!.parts) ?? 0)
      const output = outputOf(later.parts) ?? before
      return output < before && output > 0
    })
    return [...flags, ...totals, ...(falls ? ['the output count falls within a stream'] : [])].map(
      (summary) => ({ request, summary }),
    )
  })
}

const smallOverlap = 16

function isSmallOverlap({ usage }: PricedRequest): boolean {
  const parts = usage!.parts
  const whole = (parts.cache_read ?? 0) + (parts.cache_write ?? 0) + (parts.cache_write_1h ?? 0)
  return (
    parts.input_uncached === 0 &&
    (promptOf(parts) ?? 0) - whole <= smallOverlap &&
    whole <= smallOverlap
  )
}

/** What a total is in most answers of each model. */
function usualTotals(requests: readonly PricedRequest[]) {
  const byModel = Map.groupBy(
    requests.filter(({ usage }) => usage !== null && usage.totalIs !== null),
    ({ requestedModel }) => requestedModel,
  )
  return new Map(
    [...byModel].map(([model, all]) => {
      const withReasoning = all.filter(({ usage }) => usage!.totalIs === 'input+output+reasoning')
      return [
        model,
        withReasoning.length * 2 > all.length ? 'input+output+reasoning' : 'input+output',
      ] as const
    }),
  )
}

/**
 * Issues between the usages of equal requests: other prompt counts, and reads of what no earlier answer reported
 * as written, where writes have a price of their own. An answer that was made in several passes has prompts of its own, and each of
 * its models may have written a cache that its counts do not name.
 */
export function issuesOfTwins(
  requests: readonly PricedRequest[],
  priceOf: PriceOf,
): {
  readonly issues: readonly UsageIssue[]
  readonly twins: number
  /** Whether one of them read a cache. */
  readonly haveReads: boolean
} {
  const ofSeveral = new Set(requests.filter(hasPasses).map(({ prompt }) => prompt))
  const groups = Map.groupBy(
    requests.filter(
      (request) => request.usage !== null && isSuccess(request) && !hasPasses(request),
    ),
    ({ prompt, returnedModel, requestedModel }) => `${returnedModel ?? requestedModel} ${prompt}`,
  )
  const issues: UsageIssue[] = []
  const kept = new KeptTokens(requests)
  let twins = 0
  let haveReads = false
  for (const group of groups.values()) {
    const known = group.filter(({ usage }) => promptOf(usage!.parts) !== null)
    if (known.length < 2) continue
    twins += known.length
    haveReads ||= known.some(({ usage }) => (usage!.parts.cache_read ?? 0) > 0)
    const [first] = known
    const prompt = promptOf(first!.usage!.parts)
    for (const request of known.slice(1)) {
      const other = promptOf(request.usage!.parts)
      if (other !== prompt)
        issues.push({
          request,
          summary: `${other} prompt tokens${request.isStream ? ' in a stream' : ''}, ${prompt} for an equal request${first!.isStream ? ' in a stream' : ''}`,
        })
    }
    const unseen = ofSeveral.has(first!.prompt) ? null : unseenWrite(known, priceOf, kept)
    if (unseen !== null) issues.push(unseen)
  }
  return { issues, twins, haveReads }
}

const hasPasses = ({ usage }: PricedRequest) =>
  usage !== null && (usage.passes.length > 0 || usage.unread.length > 0)

const countOf = ({ usage }: PricedRequest, part: Part) => usage!.parts[part] ?? 0
const writtenBy = (request: PricedRequest) =>
  countOf(request, 'cache_write') + countOf(request, 'cache_write_1h')

/** What caches may hold: a request has its beginning in common with others, equal or not, also with one that the client left. */
class KeptTokens {
  /** The requests of each account and model by their start. */
  private readonly groups: ReadonlyMap<string, readonly PricedRequest[]>

  constructor(requests: readonly PricedRequest[]) {
    const inOrder = requests.toSorted((a, b) => a.startMs - b.startMs)
    this.groups = Map.groupBy(inOrder, groupOf)
  }

  /** The most tokens that earlier requests wrote or read; infinite if one of them does not say. */
  before(request: PricedRequest): number {
    let most = 0
    for (const each of this.groups.get(groupOf(request)) ?? []) {
      if (each.startMs >= request.startMs || most === Infinity) break
      const isKnown = each.usage !== null && each.usage.parts.cache_write !== null
      most = isKnown ? Math.max(most, writtenBy(each) + countOf(each, 'cache_read')) : Infinity
    }
    return most
  }
}

const groupOf = ({ account, requestedModel }: PricedRequest) =>
  JSON.stringify([account, requestedModel])

function unseenWrite(
  group: readonly PricedRequest[],
  priceOf: PriceOf,
  all: KeptTokens,
): UsageIssue | null {
  const [first] = group
  const model = priceOf(first!.requestedModel)
  const ofWrite = model === null ? null : entryFor(model.price, 'cache_write')
  const input = model === null ? null : entryFor(model.price, 'input')
  const isPriced =
    ofWrite?.written === 'cache_write' &&
    input !== null &&
    ofWrite.entry.price !== 'open' &&
    input.entry.price !== 'open' &&
    !isEqual(ofWrite.entry.price, input.entry.price)
  if (!isPriced) return null
  let kept = 0
  for (const request of group) {
    const reads = countOf(request, 'cache_read')
    if (request.usage!.parts.cache_write === null) return null
    if (reads > kept && kept === 0 && request !== first && reads > all.before(request))
      return {
        request,
        summary: `reads ${reads} cached tokens that no earlier request wrote`,
      }
    kept = Math.max(kept, writtenBy(request) + reads)
  }
  return null
}
