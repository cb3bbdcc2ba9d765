import type { GapAnswer } from '../../contract/profile.ts'
import type { Asking } from '../asking.ts'
import { leavesOf } from '../credits-body.ts'
import { answered, notAskable, ofFacets, pricesOf, type Question } from '../question.ts'

/** G-09: the meaning of each number, by what three cheap requests and a dear one change in it. */
export const creditsBody: Question = {
  gaps: ['G-09'],
  price: ({ contract }) => 3 * pricesOf(contract).least + pricesOf(contract).most + 4,
  async ask(asking) {
    // Learns whether the reads themselves cost something.
    await asking.idleBalance()
    const before = await settledLeaves(asking)
    const { balances } = asking
    const spentBefore = balances.spentOnReads
    if (before === null) {
      return { 'G-09': notAskable(`GET ${asking.contract.paths.credits} gives no numbers`) }
    }
    const dear = asking.contract.models.reduce((a, b) => (b.costCredits > a.costCredits ? b : a))
    let spent = 0
    let tokens = 0
    const successes = [await asking.chat(), await asking.chat(), await asking.chat()]
    successes.push(await asking.chat({ model: dear.id }))
    let served = 0
    for (const { columns, spec } of successes) {
      if (columns.outcome !== 'ok') continue
      served++
      spent += asking.contract.models.find(({ id }) => id === spec.model)!.costCredits
      tokens += columns.totalTokens ?? 0
    }
    const after = await settledLeaves(asking)
    spent += balances.spentOnReads - spentBefore
    if (served < 4 || after === null) {
      return { 'G-09': notAskable(`only ${served} of 4 requests were served`) }
    }
    const changed = (by: number) =>
      [...after]
        .filter(([path, value]) => !isName(path) && value - (before.get(path) ?? 0) === by)
        .map(([path]) => path)
    const [remaining, consumed, requests, tokenSums] = [
      changed(-spent),
      changed(spent),
      changed(served),
      tokens > 0 ? changed(tokens) : [],
    ]
    balances.remainingPath = remaining[0] ?? null
    return {
      'G-09': ofFacets(
        { remaining, consumed, requests, tokens: tokenSums },
        `${served} requests for ${spent} credits and ${tokens} tokens moved these fields by as much`,
      ),
    }
  },
}

/** Numbers of rows grow with the requests, too: a list with the newest entry first counts nothing by them. */
function isName(path: string): boolean {
  return /(?:^|[._])id$/i.test(path)
}

async function settledLeaves(asking: Asking): Promise<ReadonlyMap<string, number> | null> {
  let last: string | null = null
  for (let nth = 0; nth < 8; nth++) {
    const { json, status } = await asking.read('credits', {}, { step: 'balance' })
    const leaves = leavesOf(json)
    if (status !== 200 || leaves.size === 0) return null
    const now = JSON.stringify([...leaves])
    // Where a read changes what the next one tells, idle is all that can be waited for.
    if (now === last || asking.balances.readPrices.credits > 0) return leaves
    last = now
    await asking.options.sleep(20_000)
  }
  return null
}

/** G-17: whether reads cost a credit. */
export const readsCharged: Question = {
  gaps: ['G-17'],
  price: () => 24,
  async ask(asking) {
    const reads = 4
    const { balances } = asking
    if ((await asking.idleBalance()) === null) {
      return { 'G-17': notAskable('no balance can be read') }
    }
    const shown: number[] = []
    const look = async () => {
      const balance = await balances.read()
      if (balance !== null) shown.push(balance - balances.spentOnReads)
    }
    // The reads of the balance are reads themselves: first those alone, then others between two.
    for (let nth = 0; nth <= reads; nth++) await look()
    for (let nth = 0; nth < reads; nth++) await asking.read('models')
    await look()
    if (shown.length < reads + 2) return { 'G-17': notAskable('the balance did not settle') }
    const credits = (shown[0]! - shown[reads]!) / reads
    const models = (shown[reads]! - shown[reads + 1]! - credits) / reads
    balances.readPrices.models = models === 1 ? 1 : 0
    if (credits === 0 && models === 0) asking.readCredits = 0
    const cost = (each: number): string =>
      each === 0 ? 'free' : `${each} ${each === 1 ? 'credit' : 'credits'} each`
    return {
      'G-17': answered(
        { models: cost(models), credits: cost(credits) },
        `balances ${shown.slice(0, -1).join(', ')} in ${reads + 1} reads of credits, then ${shown.at(-1)} after ${reads} of models`,
      ),
    }
  },
}

/** G-12: the header beside the balance, for each endpoint and mode, and under concurrency. */
export const creditsHeader: Question = {
  gaps: ['G-12'],
  price: ({ contract }) => (4 * 2 + burstSize) * pricesOf(contract).least + 10,
  async ask(asking) {
    const kinds = [
      ['chat', false],
      ['chat', true],
      ['messages', false],
      ['messages', true],
    ] as const
    const price = pricesOf(asking.contract).least
    const found: Record<string, string | { oneOf: readonly string[] }> = {}
    const evidence: string[] = []
    for (const [endpoint, stream] of kinds) {
      const name = stream ? `${endpoint} stream` : endpoint
      const before = await asking.idleBalance()
      const reply = await asking[endpoint]({ stream })
      const header = reply.columns.creditsRemaining
      const shown = header === null ? null : header + asking.balances.spentOnReads
      if (reply.columns.outcome !== 'ok') found[name] = `status ${reply.status}`
      else if (shown === null) found[name] = 'absent'
      else if (before === null) found[name] = { oneOf: ['after own charge', 'before own charge'] }
      else if (shown === before - price) found[name] = 'after own charge'
      else if (shown === before) found[name] = 'before own charge'
      else found[name] = `${shown} after a balance of ${before}`
      evidence.push(`${name}: balance ${before}, header ${shown}`)
    }
    const burst = await Promise.all(
      Array.from({ length: burstSize }, () => asking.chat({}, { step: 'burst', patient: false })),
    )
    const values = burst.flatMap(({ columns }) =>
      columns.outcome === 'ok' && columns.creditsRemaining !== null
        ? [columns.creditsRemaining]
        : [],
    )
    if (values.length > 1) {
      const repeats = values.length - new Set(values).size
      evidence.push(`${values.length} at once: ${repeats} values repeat`)
      found.concurrent =
        repeats > 0 ? 'later snapshot' : { oneOf: ['own charge, atomic', 'later snapshot'] }
      // All different under sixteen-fold concurrency: a snapshot would have to be lucky each time.
      if (repeats === 0 && values.length >= burstSize / 2) found.concurrent = 'own charge, atomic'
    }
    return { 'G-12': ofFacets(found, ...evidence) }
  },
}

const burstSize = 16

/** G-13: the balance while a stream is open. */
export const chargeTime: Question = {
  gaps: ['G-13'],
  price: ({ contract }) => pricesOf(contract).least + 6,
  async ask(asking) {
    const before = await asking.idleBalance()
    if (before === null) return { 'G-13': notAskable('no balance can be read') }
    let during: Promise<number | null> | null = null
    let doneUs = Number.POSITIVE_INFINITY
    let readUs = 0
    const reply = await asking.chat(
      { stream: true, maxTokens: 512, messages: [{ role: 'user', content: longPrompt }] },
      {
        step: 'open stream',
        onEvent: () => {
          during ??= asking.balances.read().then((balance) => {
            readUs = asking.now()
            return balance
          })
        },
      },
    )
    doneUs = reply.columns.doneUs ?? doneUs
    const open = await (during as Promise<number | null> | null)
    const after = await asking.idleBalance()
    const evidence = `balance ${before}, ${open} while the stream was open, ${after} after it`
    const answer = answerOf(before, open, after, readUs < doneUs)
    return { 'G-13': typeof answer === 'string' ? answered({ charge: answer }, evidence) : answer }

    function answerOf(
      before: number,
      open: number | null,
      after: number | null,
      inTime: boolean,
    ): string | GapAnswer {
      if (reply.columns.outcome !== 'ok') return notAskable(`the stream ended ${reply.status}`)
      if (open === before && after !== null && after < before) return 'end'
      if (open !== null && open < before) {
        return inTime
          ? 'start'
          : notAskable('the stream was over before the balance was read; a longer answer is needed')
      }
      return notAskable(evidence)
    }
  },
}

const longPrompt = 'Write a long story about a river, in as many words as you may use.'
