import type { z } from 'zod'
import { userError } from '../../user/user-error.ts'

/**
 * The JSON documents of a text: one, or one per line.
 *
 * @throws UserError for text that is not JSON
 */
export function documentsOf(text: string, file: string): readonly unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    try {
      const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
      return lines.map((line) => JSON.parse(line))
    } catch {
      throw userError.import(`${file} is not JSON`)
    }
  }
}

/**
 * Parses a document with its shape.
 *
 * @throws UserError with the expected kind of file and the place of the first issue; `name` names the document
 */
export function shaped<T>(
  shape: z.ZodType<T>,
  document: unknown,
  expected: string,
  name: string,
): T {
  const parsed = shape.safeParse(document)
  if (parsed.success) return parsed.data
  const { path, message } = parsed.error.issues[0]!
  throw userError.import(`${expected}; ${path.join('.') || name}: ${message}`)
}
