import { basename } from 'node:path'
import { type EncodingName, isTokenizerFile, type Tokenizer } from '../../../contract/contract.ts'
import { countOfFile } from './tokenizer-file.ts'

/** Text such as `<|endoftext|>` in a prompt is ordinary text, not a control token. */
const asText = { disallowedSpecial: new Set<string>() }

/** A run without a space that no real text has: its tokens take a time that grows with the square of its length. */
const endless = /\S{20001}|\s{20001}/

const load = {
  o200k: () => import('gpt-tokenizer/encoding/o200k_base'),
  cl100k: () => import('gpt-tokenizer/encoding/cl100k_base'),
  p50k: () => import('gpt-tokenizer/encoding/p50k_base'),
  r50k: () => import('gpt-tokenizer/encoding/r50k_base'),
} as const satisfies Readonly<Record<EncodingName, () => Promise<unknown>>>

/** The count of a tokenizer, which is loaded when a contract names it. Null for a text that nobody can count in time. */
export async function countOf(tokenizer: Tokenizer): Promise<(text: string) => number | null> {
  const count = isTokenizerFile(tokenizer)
    ? await countOfFile(tokenizer)
    : await countOfEncoding(tokenizer)
  return (text) => (endless.test(text) ? null : count(text))
}

async function countOfEncoding(name: EncodingName): Promise<(text: string) => number> {
  const { countTokens } = await load[name]()
  return (text) => countTokens(text, asText)
}

/** What a sentence calls it: the name of an encoding or of a file. */
export const shownTokenizer = (tokenizer: Tokenizer): string => basename(tokenizer)
