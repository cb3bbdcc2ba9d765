import { basename } from 'node:path'
import type { TokenizerFile } from '../../../contract/contract.ts'
import { isObject, type JsonObject, jsonOf } from '../../../user/json.ts'
import { onceForEach } from '../../../user/once.ts'
import { readText } from '../../../user/read-text.ts'
import { UserError } from '../../../user/user-error.ts'

/**
 * The count of a `tokenizer.json`, without the tokens that a template puts around a text. The file is parsed once for all rules.
 *
 * @throws UserError if the library is missing, or the file is no tokenizer
 */
export const countOfFile: (file: TokenizerFile) => Promise<(text: string) => number> =
  onceForEach(loadCount)

async function loadCount(file: TokenizerFile): Promise<(text: string) => number> {
  const { Tokenizer } = await loadLibrary(file)
  const own = readObject(file)
  try {
    const tokenizer = new Tokenizer(own, {})
    const count = (text: string) => tokenizer.encode(text, { add_special_tokens: false }).ids.length
    // Some faults of a file show only when it counts.
    count('time')
    return count
  } catch (error) {
    throw wrongFile(file, error instanceof Error ? error.message : String(error))
  }
}

function readObject(file: string): JsonObject {
  const parsed = jsonOf(readText(file))
  if (!isObject(parsed)) throw wrongFile(file, 'it is no JSON object')
  return parsed
}

const wrongFile = (file: string, why: string) =>
  new UserError(
    'contract',
    `models: tokenizer: expected a tokenizer.json of Hugging Face's form; ${file} is none: ${why}`,
  )

/** The library is an optional install. @throws UserError if it is missing */
async function loadLibrary(file: string) {
  try {
    return await import('@huggingface/tokenizers')
  } catch {
    throw new UserError(
      'contract',
      `models: tokenizer: ${basename(file)} is counted by a library that is not installed. Install it next to assay: npm install @huggingface/tokenizers.`,
    )
  }
}
