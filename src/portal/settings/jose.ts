import { userError } from '../../user/user-error.ts'

/**
 * jose is an optional install. Its type stays in this file, which no type of the package imports: a program without jose compiles.
 *
 * @throws UserError if it is missing
 */
export async function loadJose() {
  try {
    return await import('jose')
  } catch {
    throw userError.usage(
      'The library of signed tokens is not installed. Install it next to assay: npm install jose.',
    )
  }
}
