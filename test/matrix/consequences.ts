/** A fault breaks the promise it was made for; some also break another by necessity. */
interface Consequence {
  readonly because: string
  readonly faults: readonly string[]
  readonly rules: readonly string[]
}

const wrongCharges = [
  ...['charge-2-thinking', 'k2.5-charged-1', 'alias-charged-1', 'charge-per-choice'],
  ...['streams-free', 'messages-double', 'trusted-bypass', 'charge-on-400', 'charge-on-429'],
  ...['charge-on-503', 'refund-forgotten', 'failed-attempt-charged', 'double-charge'],
  ...['lost-update', 'replay-charged', 'per-key-balance', 'charges-last-account', 'async-settle'],
  ...['long-prompts-double', 'repeats-free', 'price-rises'],
]
const strangers = ['auth-skipped-on-streams', 'auth-prefix-only', 'auth-case-folded']

const all: readonly Consequence[] = [
  {
    because: 'whatever is charged wrongly is missing in the ledger, and in what usage tells',
    faults: wrongCharges,
    rules: ['BILL-10', 'BILL-11', 'USE-04'],
  },
  {
    because: 'a wrong charge for one kind of request is a wrong price of its model',
    faults: [
      ...['charge-per-choice', 'trusted-bypass', 'streams-free', 'messages-double'],
      ...['double-charge', 'per-key-balance', 'charges-last-account', 'long-prompts-double'],
      ...['repeats-free', 'price-rises'],
    ],
    rules: ['BILL-01', 'BILL-02'],
  },
  {
    because: 'a request that is repeated under its key later pays the risen price',
    faults: ['price-rises'],
    rules: ['BILL-17'],
  },
  {
    because: 'what one worker does not know is missing in the sums, for each key, and on no page',
    faults: ['balance-per-worker'],
    rules: ['BILL-10', 'BILL-12', 'BILL-16'],
  },
  {
    because: 'a balance goes up by what another worker charged, and that is no gift',
    faults: ['balance-per-worker'],
    rules: ['BILL-19'],
  },
  {
    because: 'a stream took another price than its own when it completed',
    faults: ['streams-free', 'stream-error-200'],
    rules: ['BILL-07'],
  },
  {
    because: 'what costs too little, too late or never is had beyond the balance',
    faults: ['k2.5-charged-1', 'lost-update', 'async-settle', 'overdraft-by-one', 'repeats-free'],
    rules: ['BILL-13', 'BILL-15'],
  },
  {
    because: 'an overdrawn balance is shown below zero, where no history leads',
    faults: ['overdraft-by-one', 'check-then-act'],
    rules: ['BILL-09', 'BILL-11'],
  },
  {
    because: 'failures that cost something do so when they are tried again',
    faults: ['charge-on-429', 'charge-on-503', 'refund-forgotten', 'failed-attempt-charged'],
    rules: ['BILL-06', 'BILL-17'],
  },
  {
    because: 'the act tries again what the fault lets fail, and this rule watches the client',
    faults: ['html-503', 'charge-on-503', 'refund-forgotten', 'failed-attempt-charged'],
    rules: ['LIM-05'],
  },
  {
    because: 'a charge that a failure keeps shows at the next success, which looks dearer',
    faults: ['refund-forgotten'],
    rules: ['BILL-01', 'BILL-03'],
  },
  { because: 'a 429 that costs a credit', faults: ['charge-on-429'], rules: ['RATE-06'] },
  {
    because: 'values that rise below zero make no balance, whatever is read from them',
    faults: ['credits-header-negative'],
    rules: [
      ...['AUTH-06', 'BILL-01', 'BILL-02', 'BILL-07', 'BILL-10', 'BILL-11', 'BILL-12', 'BILL-13'],
      ...['BILL-15', 'BILL-19', 'RATE-02'],
    ],
  },
  {
    because: 'the same figures of an account no longer agree',
    faults: [
      ...['balance-cached-60s', 'consumed-counts-failures', 'per-key-balance'],
      ...['consumed-falls', 'usage-misses-streams'],
    ],
    rules: ['USE-02', 'USE-03', 'USE-04', 'USE-06'],
  },
  {
    because: 'with a key that is none, somebody spends the credits of the account',
    faults: strangers,
    rules: ['AUTH-04', 'BILL-10', 'USE-04'],
  },
  {
    because: 'an error of the wrong code, type, shape or status is so for each meaning it has',
    faults: [
      ...['wrong-401-type', 'error-code-null', 'error-shapes-swapped', 'error-wrong-type'],
      ...['status-402', 'status-422', 'catch-all-200', '429-as-403'],
    ],
    rules: ['AUTH-05', 'MODEL-05', 'ERR-02', 'ERR-04', 'ERR-05', 'RATE-06'],
  },
  {
    because: 'by its status a client must take it for the other error',
    faults: ['credits-as-429', '429-as-403'],
    rules: ['RATE-06', 'RATE-10', 'RATE-11', 'BILL-14'],
  },
  {
    because: 'with status 200 nothing is refused any more',
    faults: ['error-200'],
    rules: ['CHAT-10', 'CHAT-11', 'CHAT-12', 'MSG-03', 'MSG-04', 'MSG-05', 'MSG-06'],
  },
  {
    because: 'a refusal with status 200 looks admitted, and shows the counter as it was before',
    faults: ['error-200'],
    rules: ['RATE-09'],
  },
  {
    because: 'why generation ended and how much it made belong together',
    faults: [
      ...['finish-end-turn', 'finish-empty', 'stop-ignored', 'max-tokens-ignored'],
      ...['usage-of-previous-request', 'usage-accumulated', 'output-20000'],
    ],
    rules: ['CHAT-06', 'CHAT-13', 'MSG-07'],
  },
  {
    because: 'counts that are too large are beyond every limit on them',
    faults: ['usage-accumulated', 'output-20000'],
    rules: ['LIM-02'],
  },
  {
    because:
      'in windows of 300 tokens a long output, or a sum of usages, is beyond what both may be',
    faults: ['output-20000', 'usage-accumulated'],
    rules: ['LIM-03'],
  },
  {
    because: 'a model of the contract that is not served cannot be used',
    faults: ['not-found-without-code'],
    rules: ['MODEL-04'],
  },
  {
    because: 'where no endpoint is nobody looks at the key',
    faults: ['messages-path-missing'],
    rules: ['AUTH-03', 'AUTH-04'],
  },
  {
    because: 'valid requests of the tables are refused with it',
    faults: ['range-exclusive', 'listed-model-not-found'],
    rules: ['CHAT-11', 'MSG-04', 'MSG-06'],
  },
  {
    because: 'a stream for a request that is no valid request for one',
    faults: ['strings-coerced', 'default-stream'],
    rules: ['SSE-01'],
  },
  {
    because: 'the model that was meant is not the one that was asked for',
    faults: ['alias-charged-1'],
    rules: ['CHAT-03'],
  },
  {
    because: 'the text of a stream is not that of the plain answer',
    faults: ['latin1-body', 'chunk-index-missing', 'max-tokens-ignored-on-streams'],
    rules: ['SSE-05'],
  },
  {
    because: 'events that never end hide the last one, and a stream without it looks cut',
    faults: ['sse-single-newline'],
    rules: ['SSE-04', 'LIM-04'],
  },
  {
    because: 'a wrong row is wrong at its edges, and while the balance moves',
    faults: [
      ...['wrong-band-limit', 'band-by-purchases', 'band-stale', 'band-edge-off-by-one'],
      ...['band-until-restart'],
    ],
    rules: ['RATE-01', 'RATE-02', 'RATE-18'],
  },
  {
    because: 'requests that are counted late, twice or for others reject those that come in time',
    faults: ['rate-non-atomic', 'foreign-key-bleed', 'counts-twice', 'rate-per-address'],
    rules: ['RATE-03', 'RATE-05', 'RATE-11'],
  },
  {
    because: 'several counters let in as many limits, in bursts and over time',
    faults: ['limit-times-replicas', 'sharded-counters'],
    rules: ['RATE-03', 'RATE-04'],
  },
  {
    because:
      'a counter for each replica, and one that loses counts, show a value more often than once',
    faults: ['limit-times-replicas', 'rate-non-atomic', 'headers-of-another-key'],
    rules: ['RATE-09'],
  },
  {
    because: 'a burst that is counted after the edge of its window fills the next one',
    faults: ['rate-non-atomic'],
    rules: ['RATE-13'],
  },
  {
    because:
      'who waits until a window that stays closed is rejected again, whatever told it to wait',
    faults: ['reset-window-late'],
    rules: ['RATE-19'],
  },
  {
    because: 'a window that never ends has no true reset, and nobody can wait long enough for it',
    faults: ['counter-not-reset'],
    rules: ['RATE-13', 'RATE-19'],
  },
  {
    because: 'a number that is off is off for each rule that reads it',
    faults: ['remaining-off-by-one', 'remaining-negative', 'remaining-5-on-429'],
    rules: ['RATE-08', 'RATE-09', 'RATE-10', 'RATE-11'],
  },
  {
    because: 'hidden reasoning is output beyond what was asked for, and more than the text has',
    faults: ['reasoning-inflation'],
    rules: ['CHAT-06', 'SOLD-09', 'LIM-02'],
  },
  {
    because: 'a count that is rounded up is beyond what a short text and its template have',
    faults: ['token-rounding'],
    rules: ['SOLD-02'],
  },
]

/** Why a rule fails with a fault of another rule; null if there is no known reason. */
export function whyAlso(fault: string, rule: string): string | null {
  return (
    all.find(({ faults, rules }) => faults.includes(fault) && rules.includes(rule))?.because ?? null
  )
}
