import { randomInt } from 'node:crypto'
import type { Random } from './random.ts'

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/**
 * A new secret from the system's generator, or from `random` if the service has a seed. The same
 * seed gives the same keys, which is for tests only.
 */
export function makeSecret(prefix: string, length: number, random: Random | null): string {
  let secret = prefix
  for (let at = 0; at < length; at++) {
    secret +=
      letters[random === null ? randomInt(letters.length) : Math.floor(random() * letters.length)]
  }
  return secret
}
