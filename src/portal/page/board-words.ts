import type { BoardWords } from '../../report/usage/board/words.ts'
import type { Amounts } from './amounts.ts'
import type { Speech } from './speech.ts'

/** The board in the words of a customer. @param tag in the place of keys */
export function boardWordsOf(
  speech: Speech,
  { unit, isMoney, money }: Pick<Amounts, 'unit' | 'isMoney' | 'money'>,
  tag: string | null = null,
): BoardWords {
  const { say } = speech
  const cost = say('card.cost')
  return {
    filters: say('board.filters'),
    from: say('board.from'),
    to: say('board.to'),
    all: say('board.all'),
    allKeys: say('board.allKeys'),
    show: say('board.show'),
    by: say('board.by'),
    reset: say('board.reset'),
    resetAll: say('board.resetAll'),
    table: say('table.values'),
    explore: say('board.explore'),
    exploreValues: say('board.exploreValues'),
    use: isMoney ? `${cost} (${unit})` : say('card.credits'),
    requests: say('card.requests'),
    tokens: say('board.tokens'),
    money: money === null ? cost : `${cost} ({currency})`,
    hour: say('board.hour'),
    day: say('board.day'),
    week: say('board.week'),
    month: say('board.month'),
    sum: say('board.sum'),
    held: say(isMoney ? 'board.held.money' : 'board.held'),
    heldLine: say('board.heldLine'),
    heldKey: say(isMoney ? 'board.heldKey.money' : 'board.heldKey'),
    outLine: say('board.outLine'),
    usedLine: say('board.usedLine'),
    forecastLine: say('board.forecastLine'),
    rangeBand: say('board.rangeBand'),
    now: say('board.now'),
    dataTo: say('board.dataTo'),
    course: say('board.course'),
    budgetLine: say('board.budgetLine'),
    budgetKey: say('board.budgetKey'),
    longDay: say('board.longDay'),
    shortDay: say('board.shortDay'),
    cut: say('board.cut'),
    expire: say('board.expire'),
    outlook: say('note.outlook'),
    failures: say('board.failures'),
    failuresAll: say('table.failed'),
    limits: say('board.limited'),
    limited: say('board.limited'),
    kinds: say('board.kinds'),
    input: say('board.input'),
    cached: say('board.cached'),
    output: say('board.output'),
    inputTokens: say('card.input'),
    outputTokens: say('card.output'),
    // Sums have no latencies.
    latency: '',
    latencyNote: '',
    busy: say('board.busy'),
    busyNote: say('board.busyNote'),
    marks: say('board.marks'),
    marked: say('board.marked'),
    why: say('board.why'),
    model: say('board.model'),
    key: tag === null ? say('board.key') : speech.tag(tag),
    endpoint: say('board.endpoint'),
    byModel: say('table.models'),
    byKey: tag === null ? say('table.keys') : speech.tag(tag),
    byEndpoint: say('board.endpoints'),
    some: say('board.some'),
    time: say('table.time'),
    until: say('board.until'),
    requestsHead: say('card.requests'),
    unitHead: isMoney ? `${cost} (${unit})` : say('chart.credits'),
    failedHead: say('table.failed'),
    status: say('board.status'),
    hourRequests: say('board.hourRequests'),
    showRequests: say('board.showRequests'),
    moreRequests: say('board.moreRequests'),
    sortRequests: say('board.sortRequests'),
    requestId: say('board.requestId'),
    duration: say('board.duration'),
    noAnswer: say('export.busy'),
    noRequests: say('board.noRequests'),
    ofAll: say('board.ofAll'),
    amount: ofCredits(say('unit.credit'), say('unit.credits')),
    count: say('card.count'),
    failed: say('table.failed'),
    percent: say('board.percent'),
    unknownCost: say('card.partial'),
    inOut: say('board.inOut'),
    unmeasured: say('card.unmeasured'),
    nothing: say('board.nothing'),
    open: say('board.open'),
    other: say('table.other'),
    others: say('most.others'),
    unknown: say('table.unnamed'),
  }
}

/** An amount of credits, of which the singular and the plural are two texts, as one whose word agrees with its `sum`. */
function ofCredits(one: string, more: string): string {
  const head = '{amount}'
  return one.startsWith(head) && more.startsWith(head)
    ? `{sum}{sum|${one.slice(head.length)}|${more.slice(head.length)}}`
    : more.replaceAll(head, '{sum}')
}

/** How requests ended, in the words of a customer. */
export const outcomeWords = ({ say }: Speech) => ({
  ok: say('outcome.ok'),
  limited: say('outcome.limited'),
  error: say('outcome.error'),
  unknown: say('outcome.unknown'),
})
