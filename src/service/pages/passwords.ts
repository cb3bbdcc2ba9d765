import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'

const derive = promisify(scrypt) as (
  password: string,
  salt: Buffer,
  bytes: number,
) => Promise<Buffer>

const saltBytes = 16
const hashBytes = 32

/** A salted scrypt hash as `salt:hash` in base64url, computed on another thread. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(saltBytes)
  const hash = await derive(password.normalize('NFKC'), salt, hashBytes)
  return `${salt.toString('base64url')}:${hash.toString('base64url')}`
}

/** The hash of no password, so that an unknown name takes as long as a wrong password. */
const nobody = `${'A'.repeat(22)}:${'A'.repeat(43)}`

/** @param stored null for an account without a password, which no password fits */
export async function fitsPassword(password: string, stored: string | null): Promise<boolean> {
  const [salt = '', expected = ''] = (stored ?? nobody).split(':')
  const hash = await derive(password.normalize('NFKC'), Buffer.from(salt, 'base64url'), hashBytes)
  const fits = timingSafeEqual(hash, Buffer.from(expected, 'base64url'))
  return stored !== null && fits
}
