import type { GapId } from '../../src/contract/profile.ts'

/** An answer of the rulebook's table, and the variants that give it, or why none can. */
type Answers = Readonly<Record<string, readonly string[] | string>>

/**
 * Section 1.12 of the rulebook: each gap with its answers, and the names of the variants that play
 * each, or the reason why there is none.
 */
export const gapAnswers: Readonly<Record<GapId, Answers>> = {
  'G-01': {
    'reasoning_content on chat, a thinking block on messages': ['reasoning=field'],
    'reasoning on chat': ['reasoning=short-field'],
    'inline <think>': ['reasoning=inline'],
    nowhere: ['reasoning=nowhere'],
  },
  'G-02': { yes: ['listK25=true'], no: ['listK25=false'] },
  'G-03': { 'an element': ['permissionFields=true'], empty: ['permissionFields=false'] },
  'G-04': {
    'end_turn, max_tokens, stop_sequence':
      'the set is open and no rule reads it: every variant gives all three',
  },
  'G-05': {
    text: ['reasoning=nowhere'],
    thinking: ['reasoning=field'],
    'vision, tools': 'they come from a model behind --upstream, as it sends them',
  },
  'G-06': {
    none: ['modelsAuth=none'],
    Bearer: ['modelsAuth=bearer'],
    'X-API-Key': ['modelsAuth=x-api-key'],
    both: ['modelsAuth=either'],
  },
  'G-07': {
    none: 'a balance is that of an account, which only a key names',
    Bearer: ['creditsAuth=bearer'],
    'X-API-Key': ['creditsAuth=x-api-key'],
    both: ['creditsAuth=either'],
  },
  'G-08': { accept: ['otherHeader=accepted'], reject: ['otherHeader=refused'] },
  'G-09': {
    'fields at the top': ['creditsBody=flat'],
    'fields in groups': ['creditsBody=nested'],
    'other names': ['creditsBody=renamed'],
  },
  'G-10': {
    'named events': ['messagesStream=named-events'],
    'chat chunks': ['messagesStream=chat-chunks'],
    JSON: ['messagesStream=json'],
  },
  'G-11': {
    'last chunk with choices: []': ['streamUsage=always', 'streamUsage=when-asked'],
    'inside a choice': ['streamUsage=in-choice'],
    none: ['streamUsage=never'],
  },
  'G-12': {
    'after own charge, atomic': ['creditsHeader=after'],
    'later snapshot': ['creditsHeader=snapshot'],
    before: ['creditsHeader=before'],
    projected: 'streams of creditsHeader=after show what their charge will leave',
    absent: 'breaks BILL-09: it stands among the faults (docs/decisions/0400)',
  },
  'G-13': { end: ['charge=end'], 'reserve and refund': ['charge=start'] },
  'G-14': {
    'never, or if the server finished': ['abortedStream=free'],
    always: ['abortedStream=charged'],
    'after the first token': ['abortedStream=after-first-token'],
  },
  'G-15': { charged: ['abortedPlain=charged'], 'not charged': ['abortedPlain=free'] },
  'G-16': { charged: ['emptyAnswers=charged'], free: ['emptyAnswers=free'] },
  'G-17': {
    '0': ['readsCharged=none'],
    '1': ['readsCharged=models', 'readsCharged=credits', 'readsCharged=both'],
  },
  'G-18': {
    '400 yes': ['counts={"request":true}'],
    '403 yes': ['counts={"credits":true}'],
    '429 yes': ['counts={"rate":true}'],
    'models yes': ['counts={"models":true}'],
    'credits yes': ['counts={"usage":true}'],
    'none of them': ['algorithm=fixed-anchored'],
    '401 yes': 'a request without a valid key has no key to count for',
  },
  'G-19': {
    'rate headers': ['rateHeadersOnErrors=true', 'rateHeadersOnErrors=false'],
    'credits header': ['creditsHeaderOnErrors=true', 'creditsHeaderOnErrors=false'],
  },
  'G-20': {
    'minute always': ['window=minute'],
    tightest: ['window=tightest'],
    'the one that failed': ['window=failed'],
    rotates: ['window=rotate'],
  },
  'G-21': {
    'delta s': ['reset=delta-s'],
    'delta ms': ['reset=delta-ms'],
    'epoch s': ['reset=epoch-s'],
    ms: ['reset=epoch-ms'],
    us: ['reset=epoch-us'],
  },
  'G-22': {
    'aligned fixed': ['algorithm=fixed-aligned'],
    'anchored fixed': ['algorithm=fixed-anchored'],
    'sliding log': ['algorithm=sliding-log'],
    'sliding counter': ['algorithm=sliding-counter'],
    'bucket, burst of a window': ['algorithm=token-bucket'],
    'bucket, burst of one': ['algorithm=gcra'],
  },
  'G-23': {
    kept: ['bandChange=kept'],
    reset: ['bandChange=reset'],
    scaled: ['bandChange=scaled'],
  },
  'G-24': { admission: ['bandAt=admission'], 'after charge': ['bandAt=after-charge'] },
  'G-25': {
    'upper row': ['sharedEdge=upper'],
    'lower row': ['sharedEdge=lower'],
    '0 credits': 'the order of 403 and 429 is that of G-26',
  },
  'G-26': {
    'any order after the key': [
      'precedence=["key","rate","request","credits"]',
      'precedence=["key","rate","credits","request"]',
      'precedence=["key","request","rate","credits"]',
      'precedence=["key","request","credits","rate"]',
      'precedence=["key","credits","rate","request"]',
      'precedence=["key","credits","request","rate"]',
    ],
    'the key later': 'limit and balance are those of a key, which must be known first',
  },
  'G-27': {
    '400': ['modelNotFound=400', 'contextExceeded=400'],
    '404': ['modelNotFound=404', 'contextExceeded=404'],
  },
  'G-28': {
    chat: ['sharedErrorShape=chat'],
    messages: ['sharedErrorShape=messages'],
    other: ['sharedErrorShape=other'],
  },
  'G-29': {
    clamp: ['maxTokens=clamp'],
    reject: ['maxTokens=refuse'],
    honour: ['maxTokens=honour'],
  },
  'G-30': { 'limits of §8.2': ['inputLimit=limits'], window: ['inputLimit=window'] },
  'G-31': {
    'top_p range': ['topP=refused', 'topP=accepted'],
    'empty messages': ['emptyMessages=refused', 'emptyMessages=accepted'],
    'unknown fields': ['unknownFields=ignored', 'unknownFields=refused'],
    'n upper bound': ['maxN=4', 'maxN=128'],
  },
  'G-32': { no: ['retryAfter=none'], s: ['retryAfter=seconds'], date: ['retryAfter=date'] },
  'G-33': { excluded: ['stopText=excluded'], included: ['stopText=included'] },
  'G-34': { 'total or retries': 'a policy of clients: no service can answer it' },
  'G-35': { 'earliest expiry': ['burnOrder=expiry'], FIFO: ['burnOrder=purchase'] },
  'G-36': { fresh: ['newKey=fresh'], shared: ['newKey=inherited'] },
  'G-37': {
    no: ['idempotencyKey=ignored'],
    'replay free': ['idempotencyKey=replayed'],
    'replay charged': 'breaks BILL-17: it stands among the faults',
  },
}
