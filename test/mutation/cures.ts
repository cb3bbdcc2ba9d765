/**
 * Kinds of wrong verdicts that the judge once gave, each with the line that cures it, what that line was before, and a test that
 * fails without it. `npm run undo` undoes each in a copy of the tree, and sees the test red.
 */
export interface Cure {
  readonly kind: string
  readonly file: string
  /** Occurs once in the file. */
  readonly is: string
  readonly was: string
  readonly test: string
  /** The name of the test, or what begins it. */
  readonly named: string
}

const sums = 'src/audit/evidence/prices'
const field = 'test/audit/prices'

export const cures: readonly Cure[] = [
  {
    kind: 'a log by URL asks for no id when no run is named',
    file: 'src/cli/audits/audit.ts',
    is: '(await selectRuns(store, runIds, contract)).map(({ runId }) => runId)',
    was: 'runIds',
    ...{ test: 'test/cli/log-by-url.test.ts', named: "LiteLLM's log gives the same findings" },
  },
  {
    kind: 'each request may be rounded although the costs are whole units',
    file: `${sums}/balance.ts`,
    is: 'const slack = isExact ? zero : compare(unit, ofCharges) > 0 ? unit : ofCharges',
    was: 'const slack = multiply(smallest, rational(BigInt(count)))',
    ...{ test: `${field}/field/whole-units.test.ts`, named: 'a few double charges' },
  },
  {
    kind: 'charges are called late without a balance that was read in the end',
    file: 'src/audit/evidence/billing/late.ts',
    is: 'unread === 0',
    was: 'unread >= 0',
    test: 'test/audit/rules/billing/settlement.test.ts',
    named: 'BILL-08: charges that no final balance shows',
  },
  {
    kind: 'a day that has not begun has usage',
    file: 'src/audit/rules/usage/within-an-answer.ts',
    is: 'const day = days?.find(isAhead)',
    was: 'const day = days?.find(() => false)',
    ...{ test: 'test/audit/usage/bodies.test.ts', named: 'USE-03: in zone UTC' },
  },
  {
    kind: 'an hour beside its day, or of Unix time, has no time',
    file: 'src/audit/evidence/usage/buckets.ts',
    is: 'values.map(epochMs).find((ms) => ms !== null)',
    was: 'values.map(epochMs).find(() => false)',
    ...{
      test: 'test/audit/usage/booked.test.ts',
      named: 'USE-03: an hour of the future is found, written as Unix seconds',
    },
  },
  {
    kind: 'hours of one model are compared with the days of all',
    file: 'src/audit/evidence/usage/buckets.ts',
    is: "part: ofAPart.test(within) ? within : ''",
    was: "part: ''",
    ...{
      test: 'test/audit/usage/booked.test.ts',
      named: 'USE-03: hours of one model are not those of the days of all',
    },
  },
  {
    kind: 'requests that are booked under a time that was over pass',
    file: 'src/audit/rules/usage/across-answers.ts',
    is: 'sums ?? bookedLate(sent, first, earlier, later) ?? sums',
    was: 'sums',
    ...{
      test: 'test/audit/usage/booked.test.ts',
      named: 'USE-04: requests that are booked under an hour that was over',
    },
  },
  {
    kind: 'a balance that is no number is left out',
    file: `${sums}/balance.ts`,
    is: "typeof shown === 'string' && amountOf(shown) === null",
    was: 'shown === null',
    ...{
      test: `${field}/field/whole-units.test.ts`,
      named: 'values of a balance that are no number',
    },
  },
  {
    kind: 'a cost that is no number is left out',
    file: `${sums}/unreadable.ts`,
    is: "if (first === undefined || verdict.verdict === 'fail') return verdict",
    was: 'if (first === undefined || first.text.length > 0) return verdict',
    ...{ test: `${field}/unreadable.test.ts`, named: 'costs in answers that are no number' },
  },
  {
    kind: 'costs that are all rounded up are inconclusive',
    file: `${sums}/place-verdict.ts`,
    is: 'const leastOneSided = 20',
    was: 'const leastOneSided = 20_000',
    ...{ test: `${field}/rounded-up.test.ts`, named: 'costs that are rounded up fail' },
  },
  {
    kind: 'what the log charged for a stream that was left bounds what it may cost',
    file: 'src/price/judge/left-prompt.ts',
    is: 'if (price.reasoning !== undefined) return null',
    was: 'return null',
    ...{
      test: `${field}/paid-endpoints.test.ts`,
      named: 'streams that were left and charged for all',
    },
  },
  {
    kind: 'more than a long window admits, where none begins, is undecided',
    file: 'src/audit/rules/rates/over-admission.ts',
    is: 'return mayBegin || onceIn < rareEdges ? null : onceIn',
    was: 'return mayBegin || onceIn >= 0 ? null : onceIn',
    test: 'test/audit/rates/windows-of-contracts.test.ts',
    named: '161 of 100 an hour within seconds fail',
  },
  {
    kind: 'a rejection before the limit of a calendar is not looked at',
    file: 'src/audit/rules/rates/calendar-windows.ts',
    is: 'counted.most(index) < limit.requests && isFree()',
    was: 'false',
    ...{
      test: 'test/audit/rates/contract-limits.test.ts',
      named: 'a window of a calendar > a rejection after 20 of 30 fails',
    },
  },
  {
    kind: 'a window without a limit may refuse any request',
    file: 'src/limits/other-windows.ts',
    is: 'if (!Number.isFinite(limit)) return false',
    was: 'if (limit < 0) return false',
    ...{
      test: 'test/audit/rates/contract-limits.test.ts',
      named: 'a window of a calendar > a rejection after 20 of 30 in a month is undecided',
    },
  },
  {
    kind: 'more requests in flight than a contract promises pass',
    file: 'src/audit/rules/rates/rate-03.ts',
    is: 'if (others < most) continue',
    was: 'if (others < Infinity) continue',
    ...{
      test: 'test/audit/rates/contract-limits.test.ts',
      named: 'requests in flight > more than the promised number',
    },
  },
  {
    kind: 'a limit of requests in flight is taken for a bucket',
    file: 'src/audit/rules/rates/rate-05.ts',
    is: 'if (inFlight !== null) {',
    was: 'if (inFlight !== null && false) {',
    test: 'test/audit/rates/windows-of-contracts.test.ts',
    named: 'rejections of requests beyond a number in flight',
  },
  {
    kind: "a log whose parts differ from the answer's passes",
    file: 'src/audit/rules/prices/logged.ts',
    is: 'if (of !== null && count !== null && of !== count)',
    was: 'if (of !== null && count !== null && of !== of)',
    ...{
      test: `${field}/paid-endpoints.test.ts`,
      named: "a log whose parts differ from the answer's",
    },
  },
  {
    kind: 'a name of the usage that no contract prices is ignored',
    file: 'src/price/price-at.ts',
    is: '...selectingNames(named),',
    was: '',
    ...{ test: 'test/price/named-usage.test.ts', named: '' },
  },
  {
    kind: 'a name that had not come when the client left is taken for the usual one',
    file: 'src/price/judge/left-answer.ts',
    is: 'if (hidden !== undefined) return usageField(hidden)',
    was: '',
    ...{ test: `${field}/selects.test.ts`, named: 'a fast stream that the client left' },
  },
  {
    kind: 'what a cache of the gateway may have answered passes',
    file: 'src/price/judge/judge.ts',
    is: 'if (ifCached.some((cost) => isWithin(value, cost, unit, model)))',
    was: "if (ifCached.some((cost) => isWithin(value, cost, unit, model))) return { is: 'right', nearest }\n  if (value === null)",
    ...{ test: 'test/audit/prices/selects.test.ts', named: "an answer of the gateway's cache" },
  },
  {
    kind: 'a paid request of another endpoint is no request',
    file: `${sums}/requests.ts`,
    is: 'if (row.model === null && !isPaidPerhaps(row)) {',
    was: "if (row.model === null || row.endpoint === 'other') {",
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'a transcription that a step' },
  },
  {
    kind: 'an answer in several passes costs its last pass',
    file: 'src/price/calculate.ts',
    is: "if (usage.passes.length > 0 && model.charged[context.outcome] === 'full')",
    was: "if (usage.passes.length > 9 && model.charged[context.outcome] === 'full')",
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'an answer in several passes' },
  },
  {
    kind: 'a part at the price of another is no cause',
    file: 'src/price/judge/changes/changes.ts',
    is: 'const ofOthers = pairChanges(models)',
    was: 'const ofOthers = pairChanges([])',
    ...{ test: 'test/price/candidates.test.ts', named: '' },
  },
  {
    kind: 'a refund of a bill is a charge',
    file: 'src/store/import/formats/azure.ts',
    is: "refund: 'refund',",
    was: "refund: 'usage',",
    ...{ test: 'test/store/import/other-services.test.ts', named: 'a refund of Azure' },
  },
  {
    kind: 'the first answer again, for nothing, is a lost charge',
    file: `${sums}/replays.ts`,
    is: "outcomes: ['gateway_cache', ...request.outcomes],",
    was: '',
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'the same answer again' },
  },
  {
    kind: 'a 429 must have the words of the first service, whatever the contract promises',
    file: 'src/audit/rules/rates/rate-06.ts',
    is: 'if (allowed.length === 0 || (errorCode === null && errorType === null)) return null',
    was: "if (errorType !== 'rate_limit_error') return '429 with other words'",
    ...{ test: 'test/audit/own-words.test.ts', named: 'RATE-06' },
  },
  {
    kind: 'a page after requests that took another price is wrong',
    file: 'src/audit/rules/billing/settlement.ts',
    is: 'if (header === null && stretch !== undefined && stretch.taken !== stretch.sure) {',
    was: 'if (stretch === null) {',
    test: 'test/audit/rules/billing/settlement.test.ts',
    named: 'BILL-12: a page after requests',
  },
  {
    kind: 'a balance for each worker accuses refused requests of a charge',
    file: 'src/audit/evidence/unsteady.ts',
    is: 'BILL-0[1-6]',
    was: 'BILL-0[12346]',
    ...{ test: 'test/audit/unsteady.test.ts', named: 'balances kept by each worker' },
  },
  {
    kind: 'what arrived after the client stopped counting was not sent',
    file: `${sums}/requests.ts`,
    is: 'receivedEvents: Math.max(row.contentEvents, textDocuments(documents)),',
    was: 'receivedEvents: row.contentEvents,',
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'a stream that arrived in one burst' },
  },
  {
    kind: 'the text of a stream of the Responses API is none',
    file: `${sums}/answer-json.ts`,
    is: "...['delta', 'partial_json', 'refusal', 'transcript', 'summary'],",
    was: '',
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'a stream of Responses' },
  },
  {
    kind: 'a contract that is silent about streams that were left passes them',
    file: `${sums}/place-verdict.ts`,
    is: "abort: 'whose client left before the end',",
    was: '',
    ...{
      test: `${field}/paid-endpoints.test.ts`,
      named: 'a contract that says nothing about streams',
    },
  },
  {
    kind: 'a late balance is read after each request',
    file: 'src/price/traffic/scenario.ts',
    is: 'if (balance.withinMs === 0) return new Set(probes)',
    was: 'return new Set(probes)',
    ...{ test: 'test/e2e/audit-prices.test.ts', named: 'it waits for a late balance' },
  },
  {
    kind: 'amounts that are rounded in another currency have no cause',
    file: 'src/price/judge/changes/changes.ts',
    is: '...others.flatMap(roundedIn),',
    was: '',
    ...{ test: 'test/price/candidates.test.ts', named: 'amounts that are rounded' },
  },
  {
    kind: 'a Retry-After until the end of a month is too long',
    file: 'src/audit/rules/rates/rate-19.ts',
    is: 'const isMidnight = local.getTime() % 86_400e3 === 0',
    was: 'const isMidnight = local.getTime() < 0',
    ...{
      test: 'test/audit/rates/windows-of-contracts.test.ts',
      named: 'a Retry-After until a month',
    },
  },
  {
    kind: 'a balance that stays at 0 while it serves passes',
    file: `${sums}/limits.ts`,
    is: "if (terms.moves === 'up') return []",
    was: "if (terms.moves === 'up' || unit !== '') return []",
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'a balance that stays at 0' },
  },
  {
    kind: 'tokens that a refusal counts are a spend',
    file: 'src/audit/rules/prices/limit.ts',
    is: 'isOfMoney(text) ? namedSpend',
    was: "text !== '' ? namedSpend",
    ...{ test: `${field}/prices.test.ts`, named: 'a refusal that counts tokens' },
  },
  {
    kind: 'what a service takes for answers that it broke off passes where the contract is silent',
    file: `${sums}/place-verdict.ts`,
    is: "broken: 'that the service broke off',",
    was: '',
    ...{
      test: `${field}/endings.test.ts`,
      named: 'a contract that says nothing about answers that were broken',
    },
  },
  {
    kind: 'pages that each show the spend of one key are those of their account',
    file: `${sums}/judgements.ts`,
    is: 'wrongIn(own) < wrong ? own : found',
    was: 'found',
    ...{ test: `${field}/balances.test.ts`, named: 'two keys of an account: each page shows' },
  },
  {
    kind: 'a period that begins anew is a missing charge',
    file: `${sums}/limits.ts`,
    is: 'compare(each.used, last.used) < 0',
    was: 'compare(each.used, last.used) < 0 && false',
    ...{ test: `${field}/balances.test.ts`, named: 'what is used of a month that begins anew' },
  },
  {
    kind: 'a limit has the unit of the first value',
    file: `${sums}/limits.ts`,
    is: 'limit === null ? times : limitTimes',
    was: 'times',
    ...{
      test: `${field}/balances.test.ts`,
      named: 'what remains in cents and what is used in dollars add up to a limit: a place with',
    },
  },
  {
    kind: 'what remains and what is used need not add up',
    file: `${sums}/limits.ts`,
    is: 'if (total === undefined || isWithin(subtract(sum, total), slack)) return []',
    was: 'if (total === undefined || at >= 0) return []',
    ...{ test: `${field}/paid-endpoints.test.ts`, named: 'what remains and what is used' },
  },
  {
    kind: 'an answer that surely came again may be charged, whatever the contract says',
    file: 'src/price/judge/expected.ts',
    is: "isSurelyAgain && charged[first] !== 'open'",
    was: "isSurelyAgain && charged[first] === 'full'",
    ...{ test: `${field}/replays.test.ts`, named: 'what a contract promises' },
  },
  {
    kind: 'the row of an answer that came whole later is that of the attempt that was cut',
    file: `${sums}/join.ts`,
    is: 'whole ?? first!',
    was: 'first!',
    ...{ test: `${field}/replays.test.ts`, named: 'an answer that was cut' },
  },
  {
    kind: 'a key is refused with one status alone',
    file: 'src/contract/refusals.ts',
    is: '[...(has401 ? [401] : []), ...named]',
    was: '[...(has401 ? [401] : [])]',
    ...{ test: 'test/audit/contract-words.test.ts', named: 'keys may be refused' },
  },
  {
    kind: 'a 429 for overload is a rejection of a rate',
    file: 'src/audit/rules/rates/rate-events.ts',
    is: ", ...refusalsFor('overload', contract)",
    was: '',
    ...{ test: 'test/audit/contract-words.test.ts', named: 'overload' },
  },
  {
    kind: 'a usage with text after it counts the whole answer',
    file: `${sums}/answer-json.ts`,
    is: 'at >= lastText && ',
    was: '',
    ...{ test: `${field}/bursts.test.ts`, named: 'a stream that arrived with a usage so far' },
  },
  {
    kind: 'a stream that came to its end without a usage was left',
    file: `${sums}/requests.ts`,
    is: 'isFinal || endsAnyway',
    was: 'isFinal',
    ...{ test: `${field}/bursts.test.ts`, named: 'a stream that arrived in one read, to its end' },
  },
  {
    kind: 'a reset at the end of a month is too far ahead',
    file: 'src/audit/rules/rates/resets.ts',
    is: 'Math.max(rolling, ofCalendar)',
    was: "Math.min(rolling, lengthUs('day'))",
    ...{ test: 'test/audit/rates/retry-after.test.ts', named: 'RATE-12' },
  },
  {
    kind: 'a page after the last header is wrong where requests took another price',
    file: 'src/audit/evidence/billing/series.ts',
    is: 'expected !== known',
    was: 'expected === null',
    ...{ test: 'test/audit/one-explanation.test.ts', named: 'requests that are' },
  },
  {
    kind: 'a page that answers without the promised balance is found after the load',
    file: 'src/run/start/first-requests.ts',
    is: 'reads.includes(step) ? await look(balance!) : null',
    was: 'null',
    ...{ test: 'test/cli/first-requests.test.ts', named: 'a page that answers 200' },
  },
]
