import { createReadStream } from 'node:fs'
import { basename, sep } from 'node:path'
import { shownBaseUrl } from '../../contract/base-url.ts'
import { visible } from '../../user/hostile.ts'
import { installed } from '../../user/installed.ts'
import { reasonOf } from '../../user/reason.ts'
import { secrets } from '../../user/secrets/secrets.ts'
import { userError } from '../../user/user-error.ts'

/** A file under its own name, or under another, such as that by which a page links to it. */
type Uploaded = string | { readonly path: string; readonly name: string }

export type Upload = (...files: readonly Uploaded[]) => Promise<void>

/**
 * Prepares uploads to a bucket of S3, or of a compatible service. Credentials, region and endpoint come from
 * the same sources as for AWS's tools: `AWS_ACCESS_KEY_ID`, `AWS_PROFILE`, `AWS_REGION`,
 * `AWS_ENDPOINT_URL_S3` and others. The client is loaded here, so a missing one is reported before a load.
 *
 * @param target `s3://bucket/prefix`; undefined uploads nothing
 * @throws UserError for another form, or if the client is not installed
 */
export async function uploadTo(target: string | undefined): Promise<Upload> {
  if (target === undefined) return async () => {}
  const [, bucket, prefix = ''] =
    /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/.exec(target) ?? []
  if (bucket === undefined) {
    throw userError.usage(`--upload: expected s3://bucket/prefix; got ${shownBaseUrl(target)}.`)
  }
  const { S3Client, Upload } = await clientOfS3()
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`
  return async (...files) => {
    const { AWS_ENDPOINT_URL_S3, AWS_REGION = 'us-east-1' } = process.env
    for (const name of ['AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'])
      secrets.add(process.env[name])
    const client = new S3Client({
      requestChecksumCalculation: 'WHEN_REQUIRED',
      // Compatible services elsewhere have no regions, and no buckets in host names.
      ...(AWS_ENDPOINT_URL_S3 === undefined ? {} : { region: AWS_REGION, forcePathStyle: true }),
    })
    try {
      for (const file of files) {
        const { path, name } =
          typeof file === 'string' ? { path: file, name: basename(file) } : file
        const key = folder + name.replaceAll(sep, '/')
        const params = {
          Bucket: bucket,
          Key: key,
          Body: createReadStream(path),
          ContentType: typeOf(path),
        }
        await new Upload({ client, params }).done()
        process.stderr.write(`uploaded s3://${bucket}/${key}\n`)
      }
    } catch (error) {
      const { name } = error as Error
      throw userError.unreachable(
        `--upload: ${target} did not accept the files (${visible(name)}: ${reasonOf(error)}). They are here: ${files.map((file) => (typeof file === 'string' ? file : file.path)).join(', ')}.`,
      )
    } finally {
      client.destroy()
    }
  }
}

const typeOf = (file: string) =>
  file.endsWith('.html') ? 'text/html; charset=utf-8' : 'application/octet-stream'

async function clientOfS3() {
  const [{ S3Client }, { Upload }] = await installed(
    () => Promise.all([import('@aws-sdk/client-s3'), import('@aws-sdk/lib-storage')]),
    '--upload: the S3 client',
    ['@aws-sdk/client-s3', '@aws-sdk/lib-storage'],
  )
  return { S3Client, Upload }
}
