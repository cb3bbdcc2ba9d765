import type { FullContract } from '../../contract/contract.ts'
import { largest } from '../../user/extremes.ts'
import { lookup } from '../../user/lookup.ts'
import { fieldsThatMoved, leavesOf, movedBy } from '../credits-body.ts'
import { cheapestModel, pricesOf } from '../prices.ts'
import { isRefused, type ProbeResponse } from '../probe-response.ts'
import type { Prober } from '../prober.ts'
import { answered, idleReads, notAskable, ofFacets, oneGap } from '../question.ts'

/** G-09: the meaning of each number, by its change over three cheap requests and an expensive one. */
export const creditsBody = oneGap('G-09', {
  price: ({ contract, readCredits }) =>
    3 * pricesOf(contract).least + pricesOf(contract).most + 4 * idleReads * readCredits,
  async ask(prober) {
    // Finds out whether reads cost credits.
    await prober.idleBalance()
    const sinceUs = prober.now()
    const before = await settledLeaves(prober)
    const { balances } = prober
    const spentBefore = balances.spentOnReads
    if (before === null) return notAskable(`GET ${prober.contract.paths.credits} gives no numbers`)
    const dear = dearestModel(prober.contract)
    let spent = 0
    let tokens = 0
    const successes = [await prober.chat(), await prober.chat(), await prober.chat()]
    successes.push(await prober.chat({ model: dear.id }))
    let served = 0
    for (const { columns, spec } of successes) {
      if (columns.outcome !== 'ok') continue
      served++
      spent += prober.contract.models.find(({ id }) => id === spec.model)!.costCredits
      tokens += columns.totalTokens ?? 0
    }
    const after = await settledLeaves(prober)
    spent += balances.spentOnReads - spentBefore
    if (served < 4 || after === null) return notAskable(`only ${served} of 4 requests were served`)
    // A clock or a count of reads may have changed by as much. An equal time without requests reveals it.
    const spentOnReads = balances.spentOnReads
    await prober.rest((prober.now() - sinceUs) * prober.options.timeScale)
    const idle = await settledLeaves(prober)
    if (idle === null) return notAskable('the numbers could not be read again')
    const idleSpent = balances.spentOnReads - spentOnReads
    const found = fieldsThatMoved([before, after, idle], {
      remaining: [-spent, -idleSpent],
      consumed: [spent, idleSpent],
      requests: [served, 0],
      ...(tokens > 0 ? { tokens: [tokens, 0] } : {}),
    })
    balances.remainingPath = movedBy([before, after, idle], [-spent, -idleSpent])[0] ?? null
    return ofFacets(
      { ...found, tokens: found.tokens ?? [] },
      `${served} requests for ${spent} credits and ${tokens} tokens moved these fields by as much, and as long without requests did not`,
    )
  },
})

const dearestModel = ({ models }: FullContract): FullContract['models'][number] =>
  models.reduce((a, b) => (b.costCredits > a.costCredits ? b : a))

/** Reads until two reads agree, as idle reads do. Values that change by themselves get a longer look. */
async function settledLeaves(prober: Prober): Promise<ReadonlyMap<string, number> | null> {
  await prober.balances.chargesAreIn()
  let last: string | null = null
  for (let nth = 1; ; nth++) {
    const { json, status } = await prober.read('credits', {}, { step: 'balance' })
    const leaves = leavesOf(json)
    if (status !== 200 || leaves.size === 0) return null
    const now = JSON.stringify([...leaves])
    // If each read changes the next one, waiting for idle is all that can be done.
    if (now === last || nth === idleReads || prober.balances.readPrices.credits > 0) return leaves
    last = now
    await prober.options.sleep(nth * 70_000)
  }
}

/** Reads of each endpoint between two balances. */
const reads = 4

/** G-17: what reads cost. */
export const readsCharged = oneGap('G-17', {
  price: ({ readCredits }) => (idleReads + 2 * reads + 2) * readCredits,
  async ask(prober) {
    const { balances } = prober
    if ((await prober.idleBalance()) === null)
      return notAskable('no balance can be read that stays')
    const shown: number[] = []
    const look = async () => {
      const balance = await balances.read()
      if (balance !== null) shown.push(balance - balances.spentOnReads)
    }
    // Reads of the balance are reads themselves: first only those, then the others between two of them.
    for (let nth = 0; nth <= reads; nth++) await look()
    let served = 0
    for (let nth = 0; nth < reads; nth++) {
      if ((await prober.read('models')).status === 200) served++
    }
    await look()
    if (shown.length < reads + 2) return notAskable('the balance could not be read')
    const credits = (shown[0]! - shown[reads]!) / reads
    const models = (shown[reads]! - shown[reads + 1]! - credits) / served
    // Failed reads cost nothing and reveal nothing.
    if (served > 0) balances.readPrices.models = Number.isInteger(models) && models > 0 ? models : 0
    if (credits === 0 && models === 0) prober.readCredits = 0
    return ofFacets(
      { ...(served > 0 ? { models: costOfRead(models) } : {}), credits: costOfRead(credits) },
      `balances ${shown.slice(0, -1).join(', ')} in ${reads + 1} reads of credits, then ${shown.at(-1)} after ${served} of models were served`,
    )
  },
})

/** The cost of each read if it is whole. It stays open if only some reads cost it, or if the balance rose. */
function costOfRead(credits: number): string | Open {
  if (!Number.isInteger(credits) || credits < 0) return { oneOf: ['free', '1 credit each'] }
  if (credits === 0) return 'free'
  return `${credits} ${credits === 1 ? 'credit' : 'credits'} each`
}

/** The values that fit an open facet. */
type Open = { readonly oneOf: readonly string[] }

const kinds = [
  ['chat', false],
  ['chat', true],
  ['messages', false],
  ['messages', true],
] as const

/** G-12: compares the header with the balance, for each endpoint and mode, and under concurrency. */
export const creditsHeader = oneGap('G-12', {
  price: ({ contract, readCredits }) =>
    kinds.length * pricesOf(contract)[readCredits > 0 ? 'most' : 'least'] +
    burstSize * pricesOf(contract).least +
    kinds.length * idleReads * readCredits,
  async ask(prober) {
    const { balances, contract } = prober
    const readsCost = prober.readCredits > 0 && balances.readPrices.credits > 0
    // If reads cost credits, a more expensive charge distinguishes itself from theirs.
    const { id: model, costCredits: price } = readsCost
      ? dearestModel(contract)
      : cheapestModel(contract)
    const found: Record<string, string | Open> = lookup()
    const evidence: string[] = []
    const headers: { name: string; before: number; shown: number }[] = []
    for (const [endpoint, stream] of kinds) {
      const name = stream ? `${endpoint} stream` : endpoint
      const before = await prober.idleBalance()
      const response = await prober[endpoint]({ stream, model })
      const header = response.columns.creditsRemaining
      const shown = header === null ? null : header + balances.spentOnReads
      if (isRefused(response)) found[name] = `status ${response.status}`
      else if (response.columns.outcome !== 'ok')
        found[name] = { oneOf: ['absent', meanings.after, meanings.before] }
      else if (shown === null) found[name] = 'absent'
      else if (before === null) found[name] = { oneOf: [meanings.after, meanings.before] }
      else headers.push({ name, before, shown })
      evidence.push(`${name}: balance ${before}, header ${shown}`)
    }
    const meaningOf = meaningsOf(
      headers.map(({ before, shown }) => before - shown),
      price,
      readsCost ? [0, 1] : [0],
    )
    for (const { name, before, shown } of headers) {
      const fits = meaningOf(before - shown)
      found[name] =
        fits.length > 1 ? { oneOf: fits } : (fits[0] ?? `${shown} after a balance of ${before}`)
    }
    const burst = await Promise.all(
      Array.from({ length: burstSize }, () => prober.chat({}, { step: 'burst', patient: false })),
    )
    const values = burst.flatMap(({ columns }) =>
      columns.outcome === 'ok' && columns.creditsRemaining !== null
        ? [columns.creditsRemaining]
        : [],
    )
    if (values.length > 1) {
      const repeats = values.length - new Set(values).size
      evidence.push(`${values.length} at once: ${repeats} values repeat`)
      const concurrent = concurrentMeaning(found.chat, repeats > 0)
      if (concurrent !== null) found.concurrent = concurrent
    }
    return ofFacets(found, ...evidence)
  },
})

const meanings = { after: 'after own charge', before: 'before own charge' } as const

/**
 * The meaning of a header lower than the balance read before it: `falls` are the differences, `leads` the credits by which all
 * those balances may be too high (one if a read is charged after its body is made).
 */
function meaningsOf(
  falls: readonly number[],
  price: number,
  leads: readonly number[],
): (fell: number) => readonly string[] {
  const fits = (fell: number, lead: number) => [
    ...(fell === price + lead ? [meanings.after] : []),
    ...(fell === lead ? [meanings.before] : []),
  ]
  const possible = leads.filter((lead) => falls.every((fell) => fits(fell, lead).length > 0))
  const left = possible.length > 0 ? possible : leads
  return (fell) => [...new Set(left.flatMap((lead) => fits(fell, lead)))].sort()
}

/** Repeated values are not each response's own charge; distinct ones prove nothing. Null if the header shows another than its own. */
function concurrentMeaning(
  alone: string | Open | undefined,
  repeats: boolean,
): string | Open | null {
  const fits = [...(repeats ? [] : ['own charge, atomic']), 'later snapshot']
  if (typeof alone === 'object') return { oneOf: [...fits, meanings.before] }
  if (alone !== meanings.after) return null
  return repeats ? 'later snapshot' : { oneOf: fits }
}

const burstSize = 16

/** Streams opened for G-13: one may end, or arrive late, before the balance is read. */
const openStreams = 3

/** G-13: the balance while a stream is open. */
export const chargeTime = oneGap('G-13', {
  price: ({ contract, readCredits }) =>
    openStreams * pricesOf(contract).least +
    ((openStreams + 1) * idleReads + openStreams) * readCredits,
  async ask(prober) {
    let before = await prober.idleBalance()
    if (before === null) return notAskable('no balance can be read')
    for (let nth = 1; ; nth++) {
      const { response, open, readUs } = await readWhileOpen(prober)
      const after = await prober.idleBalance()
      const evidence = `balance ${before}, ${open} while the stream was open, ${after} after it`
      if (response.columns.outcome !== 'ok')
        return notAskable(`the stream ended ${response.status}`)
      if (open === before && after !== null && after < before)
        return answered({ charge: 'end' }, evidence)
      if (open === null || open >= before) return notAskable(evidence)
      if (wentOn(response, readUs)) return answered({ charge: 'start' }, evidence)
      if (nth === openStreams || after === null) {
        const why =
          'the stream was over before the balance was read, or may have been; a longer answer is needed'
        return notAskable(why)
      }
      before = after
    }
  },
})

/** Opens a stream and reads the balance at its first event. */
async function readWhileOpen(prober: Prober) {
  let during: Promise<number | null> | null = null
  let readUs = Number.POSITIVE_INFINITY
  const response = await prober.chat(
    { stream: true, maxTokens: 512, messages: [{ role: 'user', content: longPrompt }] },
    {
      step: 'open stream',
      onEvent: () => {
        during ??= prober.balances.read().then((balance) => {
          readUs = prober.now()
          return balance
        })
      },
    },
  )
  const open = await (during as Promise<number | null> | null)
  return { response, open, readUs }
}

/** Whether events continued after the balance was read. Events that arrived all at once may have been delayed. */
function wentOn(
  { events, columns }: Pick<ProbeResponse, 'events' | 'columns'>,
  readUs: number,
): boolean {
  const later = events.map(({ atUs }) => atUs).filter((us) => us > readUs)
  const restUs = (columns.doneUs ?? Number.NEGATIVE_INFINITY) - readUs
  const gapsUs = later.map((us, nth) => us - (later[nth - 1] ?? readUs))
  return restUs > 0 && later.length > 0 && largest(gapsUs) <= restUs / 2
}

const longPrompt = 'Write a long story about a river, in as many words as you may use.'
