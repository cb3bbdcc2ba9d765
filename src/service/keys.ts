import { randomInt } from 'node:crypto'
import type { Random } from './random.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * A new secret. From the system's generator, unless a seed was asked for: then the same service
 * has the same keys each time, which is for tests and never for anything that counts.
 */
export function makeSecret(prefix: string, length: number, random: Random | null): string {
  let secret = prefix
  for (let at = 0; at < length; at++) {
    secret +=
      letters[random === null ? randomInt(letters.length) : Math.floor(random() * letters.length)]
  }
  return secret
}
