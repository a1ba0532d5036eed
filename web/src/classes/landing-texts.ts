import type { DrawingName } from '../ui/drawing-names.ts'

export interface Testimonial {
  name: string
  location: string
  image: DrawingName
  quote: string
}

/** Testimonials by role, without names. */
export const testimonials: Testimonial[] = [
  {
    name: 'Mother of a Level 1 student, 8',
    location: 'San Mateo, California',
    image: 'mother',
    quote:
      'I expected another hour in front of a screen. Instead, we forgot the screen, and the two of us crawled after a rover under the kitchen table.',
  },
  {
    name: 'Father of a Level 2 student, 11',
    location: 'Austin, Texas',
    image: 'father',
    quote:
      'The coach did not give the answer away. She asked what the sensor was seeing, and waited. He found the mistake himself, and told us about it all through dinner.',
  },
  {
    name: 'Grandmother of a Level 3 student, 13',
    location: 'Columbus, Ohio',
    image: 'grandmother',
    quote:
      'Six children in the group, so there was always time for her questions. In the end her robot walked across our living room on its own and stopped for the cat.',
  },
]

export const reasons = [
  {
    title: 'Live, never a recording to sit through',
    text: 'A coach sees your child’s build on the video call and helps while it is on the table.',
  },
  {
    title: 'Small groups of 5 to 10',
    text: 'Enough children for good company, few enough that no one waits long for help.',
  },
  {
    title: 'The kit comes to your home',
    text: 'Shipped across the U.S. before the program starts, with every part the build needs.',
  },
  {
    title: 'A path that keeps going',
    text: 'Four levels, from a first circuit to an invention of your child’s own. Start where your child is.',
  },
] as const
