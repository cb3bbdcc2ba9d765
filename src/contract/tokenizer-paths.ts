import { resolve } from 'node:path'
import { isList, isObject, type JsonObject } from '../user/json.ts'
import { type Contract, isTokenizerFile, type TokenizerFile } from './contract.ts'

/** What a file says, with another name for each file of a tokenizer. */
export function withTokenizers(own: JsonObject, nameOf: (tokenizer: string) => string): JsonObject {
  const { models } = own
  if (!isList(models)) return own
  const named = models.map((model) =>
    isObject(model) && typeof model.tokenizer === 'string' && isTokenizerFile(model.tokenizer)
      ? { ...model, tokenizer: nameOf(model.tokenizer) }
      : model,
  )
  return { ...own, models: named }
}

/** The same with absolute paths: those in a file are relative to its folder. */
export const withTokenizerPaths = (own: JsonObject, folder: string): JsonObject =>
  withTokenizers(own, (path) => resolve(folder, path))

/** The files of tokenizers that a contract names, each once. */
export const tokenizerFilesOf = ({ models = [] }: Contract): readonly TokenizerFile[] => [
  ...new Set(
    models.flatMap(({ tokenizer }) =>
      tokenizer !== undefined && isTokenizerFile(tokenizer) ? [tokenizer] : [],
    ),
  ),
]
