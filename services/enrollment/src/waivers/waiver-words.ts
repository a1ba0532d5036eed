import type { WaiverBlock } from '@robokids/contracts/enrollment'

/** The liability waiver, word for word. After a change: `npm run waiver-document -w services/enrollment`. */
export const waiverWords = {
  company: 'Robo Kids Learning',
  title: 'Participation Agreement, Release of Liability and Assumption of Risk',
  subtitle: 'Live online robotics classes with a kit at home',
  version: 'August 23, 2025',
  introduction:
    'Please read this before you sign it. It is an agreement between Robo Kids Learning (“we”, “us”) and the parent or legal guardian who signs it (“you”), for you and for each child named in your registration (“your child”). By signing it you accept the risks described below and give up certain rights, including the right to claim compensation from us in some cases. If you do not agree with it, do not sign it; the classes and the kit are only for families who have signed.',
  sections: [
    {
      heading: 'What the program is',
      paragraphs: [
        'Your child takes part in live robotics classes on a video call and builds at home with a robotics kit that we ship to you. An instructor guides the class from a distance. The instructor cannot see everything that happens in your home, cannot step in, and does not take the place of an adult beside your child.',
      ],
    },
    {
      heading: 'Who may sign',
      paragraphs: [
        'You confirm that you are at least 18 years old, that you are the parent or legal guardian of each child you registered, that you may sign for them, and that what you told us in the registration is true. If another parent or guardian shares these rights, you confirm that they agree.',
      ],
    },
    {
      heading: 'An adult stays with your child',
      paragraphs: [
        'You, or a responsible adult whom you choose, will be at home and within reach during every class, and beside your child whenever tools, batteries, heat or sharp parts are in use. You choose a well-lit, clear place to work, keep younger children and pets away from it, check the kit before its first use, and stop any activity that does not seem safe to you, whatever the class is doing. Please tell the instructor beforehand about an allergy, a condition or a need that matters for taking part.',
      ],
    },
    {
      heading: 'The risks',
      paragraphs: [
        'Building robots is hands-on, and some risk remains however careful everyone is. Among the risks are:',
      ],
      points: [
        'Small parts. The kit holds screws, magnets, wires and other small parts that can be swallowed or choked on. It is not for children under 3, and must be kept out of their reach.',
        'Batteries and electricity. Batteries can leak, overheat, catch fire or explode when they are short-circuited, mixed, charged wrongly or damaged. A swallowed button cell or magnet is an emergency: get medical help at once.',
        'Tools, heat and motion. Screwdrivers, cutters, motors, gears and, in advanced projects, hot glue or a soldering iron can pinch, cut, burn or harm the eyes. Wear eye protection where the instructions say so. Only an adult solders.',
        'Screens and the internet. Long sitting and screen time can tire eyes and body; flashing lights can affect people who are sensitive to them; and your internet service, devices and accounts are yours to secure.',
      ],
    },
    {
      heading: 'You accept these risks',
      paragraphs: [
        'You know that these and other risks, foreseeable or not, can lead to injury, illness, damage to property and, in rare cases, lasting harm or death. You freely accept them for yourself and, as far as the law allows, for your child. You are responsible for medical care and its cost; we do not provide insurance. In an emergency, call your local emergency number first.',
      ],
    },
    {
      heading: 'Release of liability',
      paragraphs: [
        'As far as the law allows, you, for yourself, your child, your heirs and all who could claim through you, release Robo Kids Learning and its owners, employees, instructors and contractors from all claims for injury, death, loss or damage that arise from taking part in the program or from using the kit, including claims of ordinary negligence. This release does not cover gross negligence, willful misconduct, fraud, or anything else for which the law does not let liability be released.',
      ],
    },
    {
      heading: 'Indemnity',
      paragraphs: [
        'If someone makes a claim against us because you or your child used the kit against its instructions, left a child without the supervision promised above, or broke this agreement, you will reimburse us for the resulting loss and reasonable cost, as far as the law allows.',
      ],
    },
    {
      heading: 'The kit',
      paragraphs: [
        'Use the kit only as its instructions and your instructor show, with the batteries that they name. Tell us about missing or damaged parts before you use them. Kits are shipped before the program starts and only after this agreement is signed. Once it is delivered, the kit is yours to keep, store and dispose of safely; batteries and electronics do not belong in the household waste.',
      ],
    },
    {
      heading: 'Recording of sessions',
      paragraphs: [
        'Live sessions may be recorded for teaching, safety and quality, so your child’s voice, image, screen name and work may be part of a recording. Your child may keep the camera off. Please do not record, copy or share a session yourselves. How we keep and protect personal information is told in our Privacy Policy.',
      ],
    },
    {
      heading: 'Conduct',
      paragraphs: [
        'Everyone in a class is treated with respect. An instructor may mute or remove a participant who disturbs the class or puts anyone at risk. Class links are for your family alone.',
      ],
    },
    {
      heading: 'Payment',
      paragraphs: [
        'All sales are final. A refund that we owe, for instance where a class was full when your payment arrived, where we cancel a class, or where you were charged twice, is made all the same, to the card that was charged.',
      ],
    },
    {
      heading: 'Disputes, and the terms',
      paragraphs: [
        'Our Terms of Service are part of this agreement, including their rules on arbitration, on the governing law, and on the limit of our liability to the amount you paid in the preceding 12 months. Where the two differ about the risks of taking part, this agreement counts. If a part of it cannot be enforced, the rest stays in force.',
      ],
    },
    {
      heading: 'Your electronic signature',
      paragraphs: [
        'You sign by checking the box and pressing “I Agree & Complete Registration”. That has the same effect as a signature on paper. We record the time, your network address, your browser and a fingerprint of this document, add them to it as a signature page, and send you the result by email for your records. You may ask us for a paper copy.',
      ],
    },
  ] as { heading: string; paragraphs: string[]; points?: string[] }[],
  closing:
    'I have read this agreement, I understand it, and I sign it freely. I know that it limits my rights and those of my child.',
}

/** The waiver in the order in which it is read: the PDF and the page are both made of these. */
export const waiverBlocks: WaiverBlock[] = [
  { kind: 'company', lines: [waiverWords.company] },
  { kind: 'title', lines: [waiverWords.title] },
  { kind: 'edition', lines: [`${waiverWords.subtitle} · Version of ${waiverWords.version}`] },
  { kind: 'paragraph', lines: [waiverWords.introduction] },
  ...waiverWords.sections.flatMap(({ heading, paragraphs, points = [] }, index): WaiverBlock[] => [
    { kind: 'heading', lines: [`${index + 1}. ${heading}`] },
    ...paragraphs.map((paragraph): WaiverBlock => ({ kind: 'paragraph', lines: [paragraph] })),
    ...(points.length === 0 ? [] : [{ kind: 'list' as const, lines: points }]),
  ]),
  { kind: 'closing', lines: [waiverWords.closing] },
]
