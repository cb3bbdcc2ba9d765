import type { BoardWords } from '../../report/usage/board/words.ts'
import { words } from '../../user/words.ts'
import type { Amounts } from './amounts.ts'
import type { Speech } from './speech.ts'

/** Words of the page that are those of the board, as `board.filters`. */
const sameWords = [
  ...words(
    'filters from to all allKeys show by reset resetAll explore exploreValues tokens hour day',
  ),
  ...words('week month sum heldLine outLine usedLine forecastLine rangeBand now dataTo course'),
  ...words('budgetLine budgetKey longDay shortDay cut expire failures limited kinds input cached'),
  ...words('output busy busyNote marks marked why model endpoint some until status hourRequests'),
  ...words(
    'showRequests moreRequests sortRequests requestId duration noRequests ofAll percent inOut',
  ),
  ...words('nothing open disorder'),
] as const
type SameWord = (typeof sameWords)[number]

const ofBoard = (say: Speech['say']) =>
  Object.fromEntries(sameWords.map((word) => [word, say(`board.${word}`)])) as Readonly<
    Record<SameWord, string>
  >

/** The board in the words of a customer. @param tag in the place of keys */
export function boardWordsOf(
  speech: Speech,
  { unit, isMoney, money }: Pick<Amounts, 'unit' | 'isMoney' | 'money'>,
  tag: string | null = null,
): BoardWords {
  const { say } = speech
  const cost = say('card.cost')
  return {
    ...ofBoard(say),
    table: say('table.values'),
    use: isMoney ? `${cost} (${unit})` : say('card.credits'),
    requests: say('card.requests'),
    money: money === null ? cost : `${cost} ({currency})`,
    held: say(isMoney ? 'board.held.money' : 'board.held'),
    heldKey: say(isMoney ? 'board.heldKey.money' : 'board.heldKey'),
    outlook: say('note.outlook'),
    failuresAll: say('table.failed'),
    limits: say('board.limited'),
    inputTokens: say('card.input'),
    outputTokens: say('card.output'),
    // Sums have no latencies.
    latency: '',
    latencyNote: '',
    key: tag === null ? say('board.key') : speech.tag(tag),
    byModel: say('table.models'),
    byKey: tag === null ? say('table.keys') : speech.tag(tag),
    byEndpoint: say('board.endpoints'),
    time: say('table.time'),
    requestsHead: say('card.requests'),
    unitHead: isMoney ? `${cost} (${unit})` : say('chart.credits'),
    failedHead: say('table.failed'),
    noAnswer: say('export.busy'),
    amount: ofCredits(say('unit.credit'), say('unit.credits')),
    count: say('card.count'),
    failed: say('table.failed'),
    unknownCost: say('card.partial'),
    unmeasured: say('card.unmeasured'),
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
