import { UserError, type UserErrorCode } from './user-error.ts'

/**
 * Loads a library that is an optional install.
 *
 * @param what is missing without it, as the error begins
 * @param packages those that have it
 * @throws UserError with the command that installs it
 */
export async function installed<Library>(
  load: () => Promise<Library>,
  what: string,
  packages: readonly string[],
  code: UserErrorCode = 'usage',
): Promise<Library> {
  try {
    return await load()
  } catch {
    throw new UserError(
      code,
      `${what} is not installed. Install it next to assay: npm install ${packages.join(' ')}.`,
    )
  }
}
