import { createPublicKey } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fingerprintsOf, isNoKey } from '../../report/usage/key-names.ts'
import { userError } from '../../user/user-error.ts'
import { Problem } from '../api/problem.ts'
import { loadJose } from './jose.ts'
import { type Settings, type Shown, showable } from './settings.ts'

export const audience = 'assay-usage'
const longestS = 24 * 3600
const toleranceS = 60

/** What a token lets its bearer see. */
export interface Bearer {
  readonly account: string
  /** Fingerprints, or what a log has in their place; null for all keys of the account, an empty list for none. */
  readonly keys: readonly string[] | null
  readonly shows: ReadonlySet<Shown>
  /** The origin that may embed the page; null for any of the settings. */
  readonly origin: string | null
  readonly id: string
  /** Unix seconds. */
  readonly expiresS: number
}

/** Checks signed tokens of one account. */
export interface TokenCheck {
  /** @throws Problem 401 for a token that is not right */
  check(token: string, nowMs: number): Promise<Bearer>
}

/**
 * A check with the algorithm and the key of the settings, never those of a token.
 *
 * @throws UserError for a key that cannot be read
 */
export function openTokens(settings: Settings, env: NodeJS.ProcessEnv): TokenCheck {
  const { algorithm } = settings.tokens
  const key = verifyingKey(settings, env)
  return {
    async check(token, nowMs) {
      const jose = await loadJose()
      let claims: Record<string, unknown>
      try {
        const verified = await jose.jwtVerify(token, key, {
          algorithms: [algorithm],
          audience,
          clockTolerance: toleranceS,
          currentDate: new Date(nowMs),
          requiredClaims: ['sub', 'aud', 'exp', 'nbf', 'iat', 'jti'],
        })
        claims = verified.payload
      } catch (error) {
        throw problemOf(error as { code?: string; claim?: string })
      }
      if (hasTwice(Buffer.from(token.split('.')[1]!, 'base64url').toString())) throw badToken()
      return bearerOf(claims, settings, nowMs)
    },
  }
}

const badToken = () =>
  new Problem(401, 'bad-signature', 'The token is not one that this service accepts', {
    hint: 'Ask the service that gave it for a new one.',
  })

function problemOf({ code, claim }: { code?: string; claim?: string }): Problem {
  if (code === 'ERR_JWT_EXPIRED') {
    return new Problem(401, 'token-expired', 'The token has expired', {
      hint: 'Ask the service that gave it for a new one.',
    })
  }
  if (code === 'ERR_JWT_CLAIM_VALIDATION_FAILED' && claim === 'aud') {
    return new Problem(401, 'wrong-audience', `The token is for another audience than ${audience}`)
  }
  return badToken()
}

/** Whether a member of one object occurs twice in JSON: parsers then disagree about its value. */
export function hasTwice(json: string): boolean {
  /** The names of each open object; null for an open list. */
  const open: (Set<string> | null)[] = []
  for (const [sign, name, colon] of json.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\]]/g)) {
    if (sign === '{' || sign === '[') open.push(sign === '{' ? new Set() : null)
    else if (sign === '}' || sign === ']') open.pop()
    else if (colon !== undefined) {
      const names = open.at(-1)
      const read = JSON.parse(name!) as string
      if (names?.has(read)) return true
      names?.add(read)
    }
  }
  return false
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

function bearerOf(claims: Record<string, unknown>, settings: Settings, nowMs: number): Bearer {
  const { sub, jti, exp, iat, shows = [], keys = null, origin = null } = claims
  const isWhole = isText(sub) && isText(jti) && typeof exp === 'number' && typeof iat === 'number'
  if (!isWhole || !isTexts(shows) || !(keys === null || isTexts(keys))) throw badToken()
  if (!(origin === null || isText(origin))) throw badToken()
  // SQL text ends at one, so the account would be another.
  if (sub.includes('\0')) throw badToken()
  if (exp - iat > longestS || iat > nowMs / 1000 + toleranceS) throw badToken()
  const revoked = settings.revokedBefore.get(sub)
  if (revoked !== undefined && iat * 1000 < Date.parse(revoked)) {
    throw new Problem(401, 'revoked', 'The token was revoked', {
      hint: 'Ask the service that gave it for a new one.',
    })
  }
  return {
    account: sub,
    keys,
    origin,
    id: jti,
    expiresS: exp,
    shows: new Set(
      showable.filter((each) => shows.includes(each) && settings.shows.includes(each)),
    ),
  }
}

function verifyingKey({ tokens, folder }: Settings, env: NodeJS.ProcessEnv) {
  if (tokens.algorithm === 'HS256') return secretOf(tokens.secretEnv, env)
  const file = resolve(folder, tokens.publicKey)
  try {
    const text = readFileSync(file, 'utf8')
    const key = createPublicKey(text)
    // Node would take the public half of a private key, which no server needs.
    if (key.asymmetricKeyType === 'ed25519' && !text.includes('PRIVATE KEY')) return key
  } catch {
    // Said below.
  }
  throw userError.usage(
    `tokens.publicKey: ${file} is not a public Ed25519 key in PEM: expected openssl pkey -in usage-private.pem -pubout.`,
  )
}

function secretOf(name: string, env: NodeJS.ProcessEnv): Uint8Array {
  const secret = new TextEncoder().encode(env[name] ?? '')
  if (secret.length >= 32) return secret
  throw userError.usage(
    `tokens.secretEnv: ${name} has ${secret.length} bytes: expected a secret of at least 32, such as openssl rand -hex 32.`,
  )
}

export interface TokenRequest {
  readonly account: string
  readonly forS: number
  readonly shows: readonly Shown[]
  /** By a name of the settings, a fingerprint, or what a log has in its place; null for all keys of the account. */
  readonly keys: readonly string[] | null
  readonly origin: string | null
  readonly nowMs: number
  readonly id: string
  /** PEM of the private key, for EdDSA. */
  readonly privateKey: string | null
}

const unlistedOrigin = (origin: string, { origins }: Settings) =>
  userError.usage(
    `--origin ${origin}: expected one of origins of the settings${origins.length > 0 ? `: ${origins.join(', ')}.` : '. The settings have none.'}`,
  )

/**
 * Signs a token, as a backend does.
 *
 * @throws UserError for a lifetime over 24 h, what may be a key, an origin that the
 * settings do not list, or without the key that signs
 */
export async function signToken(
  settings: Settings,
  request: TokenRequest,
  env = process.env,
): Promise<string> {
  const { account, forS, shows, origin, nowMs, id, privateKey } = request
  // Anyone who has a token can read it.
  const keys =
    request.keys === null ? null : fingerprintsOf(request.keys, settings.keyNames, isNoKey)
  if (origin !== null && !settings.origins.includes(origin)) throw unlistedOrigin(origin, settings)
  if (forS > longestS || forS <= 0) {
    throw userError.usage('--for: expected more than 0 and at most 24h.')
  }
  const { SignJWT, importPKCS8 } = await loadJose()
  const { tokens } = settings
  let key: Parameters<InstanceType<typeof SignJWT>['sign']>[0]
  if (tokens.algorithm === 'HS256') key = secretOf(tokens.secretEnv, env)
  else {
    try {
      key = await importPKCS8(privateKey ?? '', 'EdDSA')
    } catch {
      throw userError.usage(
        '--private-key: expected a private Ed25519 key in PEM, such as openssl genpkey -algorithm ed25519 -out usage-private.pem.',
      )
    }
  }
  const nowS = Math.floor(nowMs / 1000)
  return new SignJWT({
    shows,
    ...(keys === null ? {} : { keys }),
    ...(origin === null ? {} : { origin }),
  })
    .setProtectedHeader({ alg: tokens.algorithm, typ: 'JWT' })
    .setSubject(account)
    .setAudience(audience)
    .setIssuedAt(nowS)
    .setNotBefore(nowS)
    .setExpirationTime(nowS + forS)
    .setJti(id)
    .sign(key)
}
