import { sqlRule } from '../sql-rule.ts'

export const rate20 = sqlRule({
  id: 'RATE-20',
  title: 'The remaining tokens lie between 0 and the limit of tokens',
  section: 'contract: headers.token_limit, headers.token_remaining',
  promised: ['headers.token_limit', 'headers.token_remaining'],
  explain: `Looks at each response that shows a limit of tokens and what remains of it, on any status.
A service counts tokens before it knows them, gives back what an answer did not need, and often has one limit for a whole
organization. So how fast the number falls decides nothing, nor does a 429 that shows tokens left.
A limit of 0 or below stands for none. It cannot tell which window the limit is for.`,
  expected: 'remaining tokens from 0 to the limit',
  observe: () => `
    SELECT run_id, slot, retry,
      CASE WHEN round(token_remaining) < 0 OR round(token_remaining) > token_limit
           THEN token_remaining::BIGINT || ' remaining of ' || token_limit::BIGINT || ' tokens' END AS observed
    FROM seen WHERE token_limit > 0 AND token_remaining IS NOT NULL`,
  requires: 'a response that shows a limit of tokens and what remains',
})
