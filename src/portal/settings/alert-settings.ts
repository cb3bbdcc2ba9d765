import { z } from 'zod'

/** An address where a message is not read on its way. */
const receiver = z.url({ protocol: /^https?$/ }).refine((text) => {
  const { protocol, hostname, username, password } = new URL(text)
  const isOwn = ['127.0.0.1', '[::1]', 'localhost'].includes(hostname)
  return username + password === '' && (protocol === 'https:' || isOwn)
}, 'expected an address of https without a user or password; http for this machine alone')

/** The variable of the environment that holds a secret. */
export const envName = z.string().regex(/^[A-Z_][A-Z0-9_]*$/, 'expected the name of a variable')

/** Where alerts are kept and sent. */
export const alerts = z.strictObject({
  file: z.string().min(1),
  webhooks: z
    .array(z.strictObject({ url: receiver, secretEnv: envName }))
    .min(1)
    .refine(
      (all) => new Set(all.map(({ url }) => new URL(url).href)).size === all.length,
      'expected each address once',
    ),
  daysLeft: z.array(z.int().positive()).default([14, 3]),
})
