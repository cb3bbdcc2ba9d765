import { resolve } from 'node:path'
import { isMapping, type Mapping } from '../user/mapping.ts'
import { type Contract, isTokenizerFile, type TokenizerFile } from './contract.ts'

/** What a file says, with another name for each file of a tokenizer. */
export function withTokenizers(own: Mapping, nameOf: (tokenizer: string) => string): Mapping {
  const { models } = own
  if (!Array.isArray(models)) return own
  const named = models.map((model: unknown) =>
    isMapping(model) && typeof model.tokenizer === 'string' && isTokenizerFile(model.tokenizer)
      ? { ...model, tokenizer: nameOf(model.tokenizer) }
      : model,
  )
  return { ...own, models: named }
}

/** The same with absolute paths: those in a file are relative to its folder. */
export const withTokenizerPaths = (own: Mapping, folder: string): Mapping =>
  withTokenizers(own, (path) => resolve(folder, path))

/** The files of tokenizers that a contract names, each once. */
export const tokenizerFilesOf = ({ models = [] }: Contract): readonly TokenizerFile[] => [
  ...new Set(
    models.flatMap(({ tokenizer }) =>
      tokenizer !== undefined && isTokenizerFile(tokenizer) ? [tokenizer] : [],
    ),
  ),
]
