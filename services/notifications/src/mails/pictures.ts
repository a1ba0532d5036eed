import { readFileSync } from 'node:fs'
import type { ClassType } from '@robokids/contracts/enrollment'
import { robotSpider, teddyBear } from '@robokids/contracts/products'

/** An inline image of a mail, referenced by its content id. */
export interface Image {
  filename: string
  contentType: 'image/png'
  content: Buffer
  cid: string
  contentDisposition: 'inline'
}

export interface Picture {
  image: Image
  /** The alternative text. */
  alt: string
  /** The background color. */
  background: string
}

const folder = new URL('../../pictures/', import.meta.url)

/**
 * Loads an image to embed in mails. Images are embedded because mail programs ask before loading remote ones, which would also
 * disclose when a mail is opened. They are PNG, because most mail programs do not support SVG. `node web/share/draw.ts` draws
 * them.
 */
function imageOf(name: string): Image {
  const filename = `${name}.png`
  return {
    filename,
    contentType: 'image/png',
    content: readFileSync(new URL(filename, folder)),
    cid: `${name}@robokidslearning`,
    contentDisposition: 'inline',
  }
}

const picture = (name: string, alt: string, background = '#e6f1fb'): Picture => ({
  image: imageOf(name),
  alt,
  background,
})

export const logo = imageOf('mark')

export const pictures = {
  rover: picture('rover', 'The green rover robot of Level 1', '#e4f5ec'),
  arm: picture('arm', 'The blue robot arm of Level 2', '#e5f0fc'),
  walker: picture('walker', 'The violet walking robot of Level 3', '#efeafc'),
  shapeShifter: picture('shape-shifter', 'The orange shape-shifting robot of Level X', '#fff0e3'),
  members: picture('class-scene', 'The members’ session on a laptop, and a small robot beside it'),
  spider: picture('spider', 'The Robot Spider'),
  bear: picture('bear', 'The AI Teddy Bear'),
  kit: picture('kit-box', 'A robotics kit in its box'),
  welcome: picture('welcome', 'A robot that waves'),
  account: picture('shield', 'A laptop with a shield on its screen'),
}

const levels: Record<ClassType, Picture> = {
  basic: pictures.rover,
  intermediate: pictures.arm,
  advanced: pictures.walker,
  custom: pictures.shapeShifter,
  membership: pictures.members,
}

/** Returns the picture of a class type. */
export function pictureOfClass({ classType }: { classType: ClassType }): Picture {
  return levels[classType]
}

/** Returns the picture of a product. */
export function pictureOfProduct(sku: string | undefined): Picture {
  if (sku === robotSpider) return pictures.spider
  return sku === teddyBear ? pictures.bear : pictures.kit
}
