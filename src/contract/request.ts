/** The vocabulary of requests, shared by those who plan them and those who send them. */

export const endpoints = ['chat', 'messages', 'models', 'credits', 'other'] as const
export type Endpoint = (typeof endpoints)[number]

/**
 * A request that is wrong on purpose, named by what is wrong with it. `no-credits` is right but for
 * its account, which the scenario's key belongs to.
 */
export const wrongRequests = [
  'missing-key',
  'invalid-key',
  'altered-key',
  'recased-key',
  'unknown-model',
  'invalid-parameter',
  'missing-messages',
  'malformed-json',
  'context-length',
  'unknown-path',
  'no-credits',
] as const
export type WrongRequest = (typeof wrongRequests)[number]

/** Where a client leaves a response on purpose. */
export type AbortPoint =
  | { readonly at: 'before-headers' | 'after-headers' | 'first-event' | 'before-done' }
  | { readonly at: 'after-events'; readonly events: number }
  | { readonly at: 'after-us'; readonly us: number }
