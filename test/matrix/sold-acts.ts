import type { FullContract } from '../../src/contract/contract.ts'
import { defaultContract } from '../../src/contract/default.ts'
import { ScriptText } from '../../src/run/plan/script-text.ts'
import { audited, repeated, words } from '../audit/sold/texts.ts'
import { type Act, act } from './act.ts'

const codes = (size: number, seed: number) => new ScriptText(seed).text('codes', size, seed)

/** The reference service counts cl100k, four tokens for each message and three before the answer. */
const told: FullContract = {
  ...defaultContract,
  models: defaultContract.models.map((model) => ({
    ...model,
    tokenizer: 'cl100k',
    contextWindowTokens: 8_000,
    templateTokens: 7,
    maxReasoningTokens: 400,
  })),
}

const asking = (texts: readonly string[], contract: FullContract, maxTokens = 1): Act =>
  act(
    [{ name: 'main', balance: 3_000 }],
    async (stage) => {
      for (const content of texts)
        await stage.send(stage.sender('main'), {
          messages: [{ role: 'user', content }],
          maxTokens,
        })
    },
    { contract },
  )

/** What the provider sells, by a contract that says so. */
export const soldActs = {
  texts: asking(audited, told),
  short: asking(words.slice(0, 5), told),
  long: asking(
    Array.from({ length: 10 }, (_, at) => `Count from ${at + 1} to 900.`),
    told,
    200,
  ),
  codes: asking([codes(2_000, 1), ...[2, 3, 4, 5].map((seed) => codes(7_600, seed))], told, 400),
  repeats: asking(repeated, defaultContract),
} as const satisfies Readonly<Record<string, Act>>
