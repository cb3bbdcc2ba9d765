/** What the usage page says, for those who operate a service. `{name}` is a value, `{name|one|more}` a word for its number. Other
 * readers get other words. */
export const boardWords = {
  filters: 'Filters of the page',
  from: 'from',
  to: 'to',
  all: 'all',
  allKeys: 'all',
  show: 'show',
  by: 'by',
  reset: 'Reset',
  resetAll: 'Reset: show everything',
  table: 'As a table',
  explore: '{title}. Arrow keys move over {bars} {bars|bar|bars}, Enter opens one.',
  exploreValues: '{title}. Arrow keys move over {bars} {bars|value|values}.',
  use: '{Unit} used',
  requests: 'Requests',
  tokens: 'Tokens',
  money: 'Cost ({currency})',
  hour: '{what} by hour',
  day: '{what} by day',
  week: '{what} by week',
  month: '{what} by month',
  sum: '{what}, added up',
  held: '{what}, added up, against what is held',
  heldLine: 'held',
  course: '{what}, added up, and the days to come',
  budgetLine: 'budget: {amount}',
  expire: '{credits} {credits|expires|expire} unused',
  outlook:
    'Up to the thin line: what was used. Dashed: the median of 500 futures, simulated from the observed days; the band contains 80 % of them. The upper line is what is held; a step in it is credits that expire unused.',
  failures: 'Failed requests (%)',
  failuresAll: 'all failures',
  limits: '429',
  limited: 'of them 429',
  kinds: 'Tokens by kind',
  input: 'input',
  cached: 'cached input',
  output: 'output',
  inputTokens: 'input tokens',
  outputTokens: 'output tokens',
  latency: 'Latency of successes (ms)',
  latencyNote:
    'Percentiles of what the source reports, each within 5 %. One with too few requests is not drawn.',
  busy: 'The week by hour: median requests',
  busyNote: 'Each cell is the median of its hours: one busy day hardly changes it.',
  marks: 'Unusual hours, the greatest excess first',
  model: 'model',
  key: 'key',
  endpoint: 'endpoint',
  byModel: 'By model',
  byKey: 'By key',
  byEndpoint: 'By endpoint',
  some: '{title}: {shown} of {all}',
  time: 'time',
  until: 'until',
  requestsHead: 'requests',
  unitHead: '{unit}',
  failedHead: 'failed',
  status: 'status',
  hourRequests: 'The requests of this hour',
  noRequests:
    'This page holds single requests only if there are at most 2000: assay export usage --from … --to … writes them.',
  ofAll: 'of {all} in all',
  failed: 'Failed',
  percent: '{share} %',
  unknownCost: '{requests} {requests|request|requests} of unknown cost',
  inOut: '{input} in, {output} out',
  unmeasured: 'not measured',
  nothing: 'nothing',
  open: 'at least so much: not over, or not measured whole',
  cut: 'cut: its value stands above',
  other: '(other)',
  unknown: '(unknown)',
} as const

/** Of a page by account, which has accounts in the place of keys. */
export const accountWords: BoardWords = { ...boardWords, key: 'account', byKey: 'By account' }

/** Of a page by a tag, which has its values in the place of keys. */
export const tagWords = (name: string): BoardWords => ({
  ...boardWords,
  key: name,
  byKey: `By ${name}`,
})

export type BoardWord = keyof typeof boardWords
export type BoardWords = Readonly<Record<BoardWord, string>>
