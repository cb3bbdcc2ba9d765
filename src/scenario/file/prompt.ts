import { resolve } from 'node:path'
import { z } from 'zod'
import { counted, either, oneOf, shape, text, whole } from '../fields.ts'
import { mostTokens, type Prompt, type PromptPrefix, promptScripts } from '../steps.ts'
import { tokenLengths } from './lengths.ts'
import type { Origin } from './origin.ts'

const mostPrompts = 1_000_000

export const promptPrefix = shape('a prefix: { tokens, shared }', {
  tokens: [counted(mostTokens), 'Tokens of the prefix, before those of synthetic.'],
  shared: [
    oneOf(['all', 'group', 'none']).default('all'),
    'all: one prefix. group: one for each group. none: another in each request.',
  ],
  groups: [whole(1).optional(), 'Number of groups, each as likely.'],
}).transform(({ tokens, shared, groups = 1 }): PromptPrefix => {
  const texts = { all: 1, group: groups, none: null }
  return { tokens, texts: texts[shared] }
})

const part = 'two shares of the text such as [0.1, 0.4]'

const promptOptions = [
  text('a prompt'),
  shape('', { file: [text('a path'), 'A file with a prompt on each line.'] }),
  shape('', {
    synthetic: [tokenLengths, 'Tokens of made-up text: a number, or a distribution.'],
    pool: [
      counted(mostPrompts).optional(),
      'Number of different prompts, the same in every run. Default: each request has its own.',
    ],
    prefix: [
      promptPrefix.optional(),
      'Text before the prompt, for the prefix cache of the service.',
    ],
    script: [
      oneOf(promptScripts).default('words'),
      'words: English, of exactly so many tokens. code, han (Chinese), codes (words with codes of six digits, and a question for them): about so many. repeat: one word, so many times.',
    ],
    between: [
      z
        .tuple([z.number().min(0).max(1), z.number().min(0).max(1)], { error: part })
        .refine(([from, to]) => from < to, { error: part })
        .optional(),
      'Where the codes of script: codes stand, as shares of the text. Default: [0, 1].',
    ],
  }),
] as const
const what =
  'a prompt: a text, { file: path }, or { synthetic: tokens } with tokens a number or a distribution'

/** The argument of a prompt function. */
export interface PromptContext {
  /** Index of the request in its phase. */
  readonly index: number
  /** Turn of the conversation, from 0. */
  readonly turn: number
  /** Uniform in [0, 1), the same for the same seed and index. */
  random(): number
}

export type PromptFunction = (context: PromptContext) => string

export const filePrompt = either(promptOptions, what)
export const modulePrompt = either(
  [...promptOptions, z.custom<PromptFunction>((value) => typeof value === 'function')],
  `${what}; or a function`,
)

export function promptOf(
  prompt: z.output<typeof modulePrompt> | undefined,
  { folder }: Origin,
): Prompt {
  if (prompt === undefined) return { kind: 'sentence' }
  if (typeof prompt === 'string') return { kind: 'text', text: prompt }
  if (typeof prompt === 'function') return { kind: 'function' }
  if ('file' in prompt) return { kind: 'file', path: resolve(folder, prompt.file) }
  const { synthetic: tokens, pool = null, prefix = null, script, between } = prompt
  return {
    kind: 'synthetic',
    tokens,
    pool,
    prefix,
    script,
    ...(between === undefined ? {} : { between }),
  }
}
