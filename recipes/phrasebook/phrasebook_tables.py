"""The tables of phrasebook.py: everyday phrases and templates in English and German (CC0).

A line is one row, its fields separated by `|`. Gender is m, f, n or p (plural).
"""

# Nouns that a German phrase may start with; others lose their capital in lower-case texts.
FIRST_NOUNS = """
Entschuldigung Verzeihung Glückwunsch Prost Hilfe Feuer Ruhe Achtung Vorsicht Gott Pech Zeit Leute Freunde Grüße
Herr Weihnachten Polizei Taxi Rauchen Tag Tee Kaffee Brot Salz Rotwein Weißwein Orangensaft Mineralwasser Freizeit
Bahnhof Kreditkarte Telefonnummer E-Mail-Adresse Eis Happy Sie Ihre Ihren Ihnen
"""

NAMES = """
Tom Mary John Anna Peter Lisa Maria Paul Emma Max Laura David Sarah Michael Julia Thomas Sophie Daniel Nina Lukas
Emily Alex Kate Martin Lena James Olivia Ben Hannah Felix Clara Jack Eva Simon Alice Robert Mia Leo Sandra Frank
Ahmed Fatima Yuki Priya Carlos Elena Ivan Chloe
"""
WOMEN = "Mary Anna Lisa Maria Emma Laura Sarah Julia Sophie Nina Emily Kate Lena Olivia Hannah Clara Eva Alice Mia Sandra Fatima Yuki Priya Elena Chloe"
SURNAMES = "Smith Miller Brown Jones Schmidt Müller Weber Wagner Becker Fischer Taylor Wilson Koch Klein Wolf Johnson"

EMOJI = "😊 😀 😂 ❤️ 👍 🎉 🙏 😍 😢 😎 👋 🤔 😅 😉 🥳 😘 🔥 💪 🙂 😁 🌞 ☀️ 🎂 🍕 ☕ 🐶 🐱 🌹 ✨ 😭 🤣 🥰 😴 🙈 💕 👏 🍺 ⚽ 🚗 🏠"

# Texts that a translator leaves as they are.
COPIED = """
WhatsApp
YouTube
Google
Facebook
Instagram
iPhone
iPhone 15
Samsung Galaxy
Windows 11
Linux
Wikipedia
Netflix
Spotify
Amazon
Microsoft
BMW
IKEA
PayPal
LEGO
USB
USB-C
WLAN-Router X200
GPS
PDF
NASA
CD
DVD
TV
Wi-Fi
Bluetooth
ChatGPT
Rust
Python 3.12
C++
Hollywood
New York
Los Angeles
San Francisco
Berlin
London
Paris
Hamburg
Madrid
Oslo
Tokyo 2020
www.example.com
https://www.example.org
https://example.com/index.html
http://localhost:8080
example.org
info@example.com
anna.schmidt@example.org
tom@example.net
support@example.com
mary.miller@example.org
+49 30 1234567
+1 555 0100
030 1234567
112
911
123
1234
007
42
3:15
7:45
10:30
12:00
18:30
2024-05-17
A4
B2
H2O
CO2
x = 5
a + b = c
1 + 1 = 2
2 x 3 = 6
abc
ABC
xyz
haha
hahaha
lol
Mmm
Hm
Hmm
:)
:-)
;)
<3
...
?
!
-
#1
#travel
@anna
100 km/h
5 kg
10 cm
20 °C
Tom
Mary
Anna
Peter
Lisa
Paul
Emma
Max
John Smith
Anna Schmidt
Peter Müller
Maria Garcia
David Miller
"""

PHRASES = """
Hey! | Hey!
Hey there! | Hallo!
Hi there! | Hallo!
Hello there! | Hallo!
Hello everyone! | Hallo zusammen!
Hello everybody! | Hallo zusammen!
Hi everyone! | Hallo zusammen!
Hi all! | Hallo zusammen!
Hi guys! | Hallo Leute!
Hey guys! | Hey Leute!
Hello, my friend! | Hallo, mein Freund!
Hello, my dear! | Hallo, meine Liebe!
Hello again! | Hallo nochmal!
Hello world! | Hallo Welt!
Hello, is anyone there? | Hallo, ist da jemand?
Hello, can you hear me? | Hallo, können Sie mich hören?
Hello, how are you doing? | Hallo, wie geht es dir?
Hi, how are you? | Hi, wie geht es dir?
Hi, how are things? | Hi, wie geht's?
Hey, how are you? | Hey, wie geht's dir?
Hello! Nice to see you. | Hallo! Schön, dich zu sehen.
Greetings! | Grüße!
Good day! | Guten Tag!
Good morning, everyone! | Guten Morgen zusammen!
Good morning, my love! | Guten Morgen, mein Schatz!
Good morning, sir. | Guten Morgen, mein Herr.
Good morning, ladies and gentlemen. | Guten Morgen, meine Damen und Herren.
Good evening, ladies and gentlemen. | Guten Abend, meine Damen und Herren.
Good evening, everyone! | Guten Abend zusammen!
Good night, sleep well! | Gute Nacht, schlaf gut!
Good night, sweet dreams! | Gute Nacht, träum süß!
Good night, everyone! | Gute Nacht zusammen!
Ladies and gentlemen! | Meine Damen und Herren!
Bye-bye! | Tschüss!
Bye for now! | Tschüss, bis bald!
Goodbye, everyone! | Auf Wiedersehen zusammen!
Goodbye, my friend. | Auf Wiedersehen, mein Freund.
Bye, see you tomorrow! | Tschüss, bis morgen!
Bye, take care! | Tschüss, pass auf dich auf!
So long! | Bis dann!
See you! | Bis dann!
See you then! | Bis dann!
See you around! | Man sieht sich!
See you next time! | Bis zum nächsten Mal!
Until next time! | Bis zum nächsten Mal!
See you again soon! | Bis bald!
Talk to you later! | Bis später!
Talk to you soon! | Bis bald!
Take it easy! | Mach's gut!
Farewell! | Leb wohl!
All the best! | Alles Gute!
Best wishes! | Alles Gute!
Best regards | Mit freundlichen Grüßen
Kind regards | Mit freundlichen Grüßen
Yours sincerely | Mit freundlichen Grüßen
With love | In Liebe
How are you doing? | Wie geht es dir?
How are you doing today? | Wie geht es dir heute?
How are you doing? | Wie geht es Ihnen?
How are you doing? | Wie geht es euch?
How have you been? | Wie ist es dir ergangen?
How are things? | Wie läuft's so?
How's life? | Wie geht's so?
How is everything? | Wie läuft alles?
How is everything going? | Wie läuft es so?
How are you feeling? | Wie fühlst du dich?
How are you feeling? | Wie fühlen Sie sich?
How do you feel? | Wie fühlst du dich?
How do you feel today? | Wie fühlst du dich heute?
So, how are you? | Na, wie geht's?
How do you do? | Guten Tag!
How was your day? | Wie war dein Tag?
How was your weekend? | Wie war dein Wochenende?
How was your trip? | Wie war deine Reise?
How was it? | Wie war es?
How is your family? | Wie geht es deiner Familie?
How are your parents? | Wie geht es deinen Eltern?
How are the kids? | Wie geht es den Kindern?
How is he? | Wie geht es ihm?
How is she? | Wie geht es ihr?
How are they? | Wie geht es ihnen?
Is everything okay? | Ist alles in Ordnung?
Is everything all right? | Ist alles in Ordnung?
Everything all right? | Alles in Ordnung?
Everything is fine. | Alles ist in Ordnung.
Everything's okay. | Alles in Ordnung.
All good! | Alles gut!
I'm fine. | Mir geht es gut.
I'm doing fine. | Mir geht es gut.
I'm doing well. | Mir geht es gut.
I'm doing great. | Mir geht es super.
I'm doing very well. | Mir geht es sehr gut.
I'm well. | Mir geht es gut.
I'm okay. | Mir geht es gut.
I'm all right. | Mir geht es gut.
I'm good, thanks. | Mir geht es gut, danke.
I'm good, thank you. | Mir geht es gut, danke.
I'm doing well, thank you. | Mir geht es gut, danke.
I'm fine, thanks. | Mir geht's gut, danke.
I'm fine, and you? | Mir geht es gut, und dir?
I'm fine, how are you? | Mir geht es gut, wie geht es dir?
Very well, thank you. | Sehr gut, danke.
Fine, thanks. | Gut, danke.
Fine, thank you. | Gut, danke.
Good, thank you. | Gut, danke.
Thanks, I'm fine. | Danke, mir geht es gut.
Thanks, and you? | Danke, und dir?
Thank you, and you? | Danke, und Ihnen?
Not so good. | Nicht so gut.
Not so well. | Nicht so gut.
Not too bad. | Nicht so schlecht.
So-so. | So lala.
I'm not doing well. | Mir geht es nicht gut.
I'm not feeling well. | Ich fühle mich nicht gut.
I don't feel well. | Ich fühle mich nicht wohl.
I feel good. | Ich fühle mich gut.
I feel great. | Ich fühle mich großartig.
I feel better. | Ich fühle mich besser.
I feel much better. | Ich fühle mich viel besser.
I'm better now. | Mir geht es jetzt besser.
He is fine. | Es geht ihm gut.
She is fine. | Es geht ihr gut.
We are fine. | Es geht uns gut.
They are fine. | Es geht ihnen gut.
What about you? | Und du?
How about you? | Und du?
And yourself? | Und selbst?
What's new? | Was gibt es Neues?
Anything new? | Gibt es etwas Neues?
What's going on? | Was ist hier los?
What's happening? | Was passiert gerade?
What happened? | Was ist passiert?
What's wrong? | Was ist los?
What's wrong with you? | Was ist los mit dir?
What's the matter? | Was ist denn los?
Nice to see you. | Schön, dich zu sehen.
Nice to see you. | Schön, Sie zu sehen.
Nice to see you again. | Schön, dich wiederzusehen.
Good to see you. | Schön, dich zu sehen.
Good to see you again. | Schön, dich wiederzusehen.
Great to see you! | Toll, dich zu sehen!
It's nice to see you. | Es ist schön, dich zu sehen.
Glad to meet you. | Freut mich, dich kennenzulernen.
It's nice to meet you. | Es freut mich, dich kennenzulernen.
It's a pleasure to meet you. | Es ist mir eine Freude, Sie kennenzulernen.
It was nice to meet you. | Es war schön, dich kennenzulernen.
It was nice meeting you. | Es war schön, dich kennenzulernen.
I'm glad to meet you. | Ich freue mich, dich kennenzulernen.
I'm pleased to meet you. | Ich freue mich, Sie kennenzulernen.
Nice to meet you, too. | Freut mich auch.
Nice to meet you too, Anna. | Freut mich auch, Anna.
The pleasure is mine. | Ganz meinerseits.
My pleasure. | Es war mir ein Vergnügen.
Long time no see! | Lange nicht gesehen!
I haven't seen you for a long time. | Ich habe dich lange nicht gesehen.
It's been a long time. | Es ist lange her.
Welcome home! | Willkommen zu Hause!
Welcome back! | Willkommen zurück!
Welcome to our home! | Willkommen bei uns!
Welcome to the team! | Willkommen im Team!
Welcome to our hotel. | Willkommen in unserem Hotel.
You are very welcome. | Sehr gern geschehen.
You're most welcome. | Sehr gern geschehen.
Make yourself at home. | Fühl dich wie zu Hause.
Make yourself comfortable. | Mach es dir bequem.
Many thanks. | Vielen Dank.
Many thanks! | Besten Dank!
Thanks very much. | Vielen Dank.
Thanks so much! | Vielen Dank!
Thanks again. | Danke nochmal.
Thank you again. | Nochmals danke.
Thanks anyway. | Trotzdem danke.
Thank you anyway. | Trotzdem danke.
Thank you both. | Danke euch beiden.
Thank you all. | Danke euch allen.
Thank you, sir. | Danke, mein Herr.
Thank you, my friend. | Danke, mein Freund.
Thank you in advance. | Vielen Dank im Voraus.
Thanks in advance. | Danke im Voraus.
Thank you and goodbye. | Danke und auf Wiedersehen.
Yes, thank you. | Ja, danke.
Yes, thanks. | Ja, danke.
No thanks. | Nein danke.
Thank God! | Gott sei Dank!
Thank goodness! | Gott sei Dank!
Thank you, that's very kind of you. | Danke, das ist sehr nett von Ihnen.
That's very kind of you. | Das ist sehr nett von dir.
That's very nice of you. | Das ist sehr nett von Ihnen.
That's nice of you. | Das ist nett von dir.
You're so kind. | Du bist so nett.
I thank you. | Ich danke dir.
I thank you. | Ich danke Ihnen.
I'm very grateful. | Ich bin sehr dankbar.
I appreciate it. | Ich weiß das zu schätzen.
Don't mention it. | Nicht der Rede wert.
Not at all. | Überhaupt nicht.
Anytime! | Jederzeit!
No worries. | Keine Sorge.
No trouble at all. | Überhaupt kein Problem.
Here you are. | Bitte schön.
Here you go. | Bitte sehr.
You too! | Du auch!
You too! | Ihnen auch!
Same to you! | Gleichfalls!
Likewise. | Gleichfalls.
Thanks, you too! | Danke, gleichfalls!
Pardon? | Wie bitte?
Pardon me? | Wie bitte?
Sorry? | Wie bitte?
Sorry! | Entschuldigung!
Sorry | Entschuldigung
Oh, sorry! | Oh, Entschuldigung!
I'm really sorry. | Es tut mir wirklich leid.
I'm very sorry. | Es tut mir sehr leid.
I am so sorry. | Es tut mir so leid.
I'm terribly sorry. | Es tut mir schrecklich leid.
I'm sorry, I don't understand. | Tut mir leid, ich verstehe nicht.
I'm sorry, I don't know. | Tut mir leid, das weiß ich nicht.
Sorry, I don't know. | Entschuldigung, das weiß ich nicht.
Sorry, I can't. | Tut mir leid, ich kann nicht.
Sorry, my mistake. | Entschuldigung, mein Fehler.
Sorry for the delay. | Entschuldigung für die Verspätung.
Sorry to bother you. | Entschuldigung für die Störung.
Sorry to hear that. | Das tut mir leid.
I'm sorry to hear that. | Es tut mir leid, das zu hören.
I'm sorry for you. | Du tust mir leid.
We're sorry. | Es tut uns leid.
We are very sorry. | Es tut uns sehr leid.
Please forgive me. | Bitte verzeih mir.
Please forgive me. | Bitte verzeihen Sie mir.
Forgive me. | Verzeih mir.
I apologize. | Ich entschuldige mich.
I beg your pardon. | Ich bitte um Verzeihung.
My mistake. | Mein Fehler.
It's my fault. | Es ist meine Schuld.
It's not your fault. | Es ist nicht deine Schuld.
It wasn't my fault. | Es war nicht meine Schuld.
Never mind. | Macht nichts.
It's okay. | Schon okay.
That's okay. | Das ist okay.
That's fine. | Das ist in Ordnung.
It's fine. | Es ist in Ordnung.
It's all right. | Es ist in Ordnung.
That's no problem. | Das ist kein Problem.
Excuse me, please. | Entschuldigen Sie bitte.
Excuse me, sir. | Entschuldigen Sie, mein Herr.
Excuse me, do you speak English? | Entschuldigung, sprechen Sie Englisch?
Excuse me, is this seat taken? | Entschuldigung, ist dieser Platz besetzt?
Excuse me, what time is it? | Entschuldigung, wie spät ist es?
Excuse me, may I get past? | Entschuldigung, darf ich mal vorbei?
Excuse me, can you help me? | Entschuldigung, können Sie mir helfen?
Would you help me? | Würden Sie mir helfen?
Can anyone help me? | Kann mir jemand helfen?
Can you help us? | Kannst du uns helfen?
Help me! | Hilf mir!
Help me, please! | Helfen Sie mir bitte!
Please help me. | Bitte hilf mir.
Please help us. | Bitte helfen Sie uns.
I need help. | Ich brauche Hilfe.
I need your help. | Ich brauche deine Hilfe.
Do you need help? | Brauchst du Hilfe?
Do you need help? | Brauchen Sie Hilfe?
Can I help you? | Kann ich dir helfen?
Can I help you? | Kann ich Ihnen helfen?
May I help you? | Darf ich Ihnen helfen?
How can I help you? | Wie kann ich Ihnen helfen?
What can I do for you? | Was kann ich für Sie tun?
Just a moment. | Einen Moment.
Just a moment, please. | Einen Augenblick, bitte.
Just a second. | Eine Sekunde.
One second, please. | Eine Sekunde, bitte.
One minute, please. | Eine Minute, bitte.
Wait! | Warte!
Wait here. | Warte hier.
Wait for me! | Warte auf mich!
Please wait. | Bitte warten Sie.
Please wait here. | Bitte warten Sie hier.
Come on! | Komm schon!
Come with me. | Komm mit mir.
Come back! | Komm zurück!
Come and see! | Komm und sieh!
Please come in. | Bitte kommen Sie herein.
Go away! | Geh weg!
Go home! | Geh nach Hause!
Get out! | Raus hier!
Get up! | Steh auf!
Wake up! | Wach auf!
Stand up! | Steh auf!
Sit down! | Setz dich!
Sit! | Sitz!
Please take a seat. | Bitte nehmen Sie Platz.
Stay here. | Bleib hier.
Stay with me. | Bleib bei mir.
Listen! | Hör zu!
Listen to me. | Hör mir zu.
Look! | Schau!
Look here! | Schau her!
Look at that! | Schau dir das an!
Watch out! | Pass auf!
Look out! | Pass auf!
Attention! | Achtung!
Attention please! | Achtung bitte!
Take care of yourself. | Pass auf dich auf.
Be nice! | Sei nett!
Be happy! | Sei glücklich!
Be patient. | Sei geduldig.
Be quick! | Sei schnell!
Calm down! | Beruhige dich!
Relax! | Entspann dich!
Keep calm. | Bleib ruhig.
Don't panic! | Keine Panik!
Don't be afraid. | Hab keine Angst.
Don't be sad. | Sei nicht traurig.
Don't cry. | Weine nicht.
Don't go! | Geh nicht!
Don't forget! | Nicht vergessen!
Don't give up! | Gib nicht auf!
Don't touch that! | Fass das nicht an!
Don't do that! | Tu das nicht!
Shut up! | Halt den Mund!
Leave me alone! | Lass mich in Ruhe!
Forget it! | Vergiss es!
Trust me. | Vertrau mir.
Try it! | Versuch es!
Try again. | Versuch es noch einmal.
Go on! | Mach weiter!
Keep going! | Mach weiter!
Go ahead! | Nur zu!
Enough! | Genug!
That's enough! | Das reicht!
Fire! | Feuer!
Cheers! | Prost!
Cheers, everyone! | Prost zusammen!
To your health! | Auf dein Wohl!
Enjoy! | Viel Spaß!
Enjoy your stay! | Schönen Aufenthalt!
Enjoy your holiday! | Schönen Urlaub!
Enjoy your weekend! | Genieß dein Wochenende!
Enjoy yourself! | Amüsier dich!
Have a good time! | Viel Spaß!
Have a good one! | Mach's gut!
Have a great day! | Einen tollen Tag!
Have a nice evening! | Schönen Abend noch!
Have a good night! | Gute Nacht!
Have a good journey! | Gute Reise!
Have a good trip! | Gute Reise!
Have a nice trip! | Gute Reise!
Drive safely! | Fahr vorsichtig!
Safe travels! | Gute Reise!
Good luck, my friend! | Viel Glück, mein Freund!
Good luck tomorrow! | Viel Glück für morgen!
Good luck with your exam! | Viel Glück bei deiner Prüfung!
Good luck with the new job! | Viel Glück im neuen Job!
I wish you good luck. | Ich wünsche dir viel Glück.
I wish you all the best. | Ich wünsche dir alles Gute.
I wish you all the best. | Ich wünsche Ihnen alles Gute.
I wish you a merry Christmas. | Ich wünsche dir frohe Weihnachten.
I wish you a happy New Year. | Ich wünsche dir ein frohes neues Jahr.
Merry Christmas and a happy New Year! | Frohe Weihnachten und ein gutes neues Jahr!
Merry Christmas, everyone! | Frohe Weihnachten euch allen!
Happy New Year, everyone! | Ein frohes neues Jahr euch allen!
Happy Easter! | Frohe Ostern!
Happy holidays! | Schöne Feiertage!
Happy anniversary! | Alles Gute zum Jahrestag!
Happy birthday to you! | Zum Geburtstag viel Glück!
Happy birthday, my friend! | Alles Gute zum Geburtstag, mein Freund!
Happy birthday, dear Anna! | Alles Gute zum Geburtstag, liebe Anna!
Happy Mother's Day! | Alles Gute zum Muttertag!
Happy Father's Day! | Alles Gute zum Vatertag!
Happy Valentine's Day! | Alles Liebe zum Valentinstag!
Happy Friday! | Schönen Freitag!
All the best for your birthday! | Alles Gute zum Geburtstag!
Congratulations on your birthday! | Herzlichen Glückwunsch zum Geburtstag!
Congratulations on your wedding! | Herzlichen Glückwunsch zur Hochzeit!
Congratulations on the new job! | Herzlichen Glückwunsch zum neuen Job!
Congratulations to you both! | Herzlichen Glückwunsch euch beiden!
Speedy recovery! | Gute Besserung!
I hope you feel better soon. | Ich hoffe, es geht dir bald besser.
Sleep tight! | Schlaf schön!
Did you sleep well? | Hast du gut geschlafen?
Did you sleep well? | Haben Sie gut geschlafen?
God bless you! | Gott segne dich!
Yes, of course. | Ja, natürlich.
Yes, I know. | Ja, ich weiß.
Yes, I do. | Ja.
No, I don't. | Nein.
Yes, I am. | Ja, das bin ich.
Yes, that's right. | Ja, das stimmt.
Yes, sir. | Jawohl.
No, not yet. | Nein, noch nicht.
No, never. | Nein, nie.
No, I'm sorry. | Nein, tut mir leid.
Of course not. | Natürlich nicht.
Why not? | Warum nicht?
Certainly. | Gewiss.
Absolutely! | Absolut!
Exactly! | Genau!
Definitely. | Auf jeden Fall.
Probably. | Wahrscheinlich.
Probably not. | Wahrscheinlich nicht.
Hopefully. | Hoffentlich.
I hope so. | Ich hoffe es.
I hope not. | Ich hoffe nicht.
I don't think so. | Ich glaube nicht.
I believe so. | Ich glaube ja.
I guess so. | Ich denke schon.
I agree. | Ich stimme zu.
I don't agree. | Ich bin nicht einverstanden.
I disagree. | Ich bin anderer Meinung.
Agreed. | Einverstanden.
All right. | In Ordnung.
Okay! | Okay!
Okay, thanks. | Okay, danke.
OK, thank you. | Okay, danke.
OK, see you tomorrow! | Okay, bis morgen!
Okay, no problem. | Okay, kein Problem.
Fine. | Gut.
Good. | Gut.
Very good! | Sehr gut!
Very good, thank you. | Sehr gut, danke.
Very nice! | Sehr schön!
Nice! | Schön!
Super! | Super!
Awesome! | Fantastisch!
Wonderful! | Wunderbar!
Excellent! | Ausgezeichnet!
Fantastic! | Fantastisch!
Amazing! | Erstaunlich!
Brilliant! | Genial!
Cool! | Cool!
Wow! | Wow!
How nice! | Wie schön!
How beautiful! | Wie schön!
How sad! | Wie traurig!
How interesting! | Wie interessant!
What a pity! | Wie schade!
What a shame! | Wie schade!
Too bad! | Schade!
Unfortunately not. | Leider nicht.
Unfortunately. | Leider.
What a day! | Was für ein Tag!
What a surprise! | Was für eine Überraschung!
What a nice present! | Was für ein schönes Geschenk!
What a great idea! | Was für eine tolle Idee!
What a beautiful city! | Was für eine schöne Stadt!
What a beautiful view! | Was für eine schöne Aussicht!
That's great! | Das ist großartig!
That's wonderful! | Das ist wunderbar!
That's good. | Das ist gut.
That's nice. | Das ist schön.
That's true. | Das ist wahr.
That's correct. | Das ist richtig.
That's wrong. | Das ist falsch.
That's not right. | Das ist nicht richtig.
That's not good. | Das ist nicht gut.
That's bad. | Das ist schlecht.
That's terrible. | Das ist schrecklich.
That's funny. | Das ist lustig.
That's interesting. | Das ist interessant.
That's important. | Das ist wichtig.
That's easy. | Das ist einfach.
That's difficult. | Das ist schwierig.
That's possible. | Das ist möglich.
That's impossible. | Das ist unmöglich.
That's a good idea. | Das ist eine gute Idee.
That's a good question. | Das ist eine gute Frage.
That's a pity. | Das ist schade.
That's all. | Das ist alles.
That's it. | Das war's.
That's why. | Deshalb.
That depends. | Das kommt darauf an.
It depends. | Es kommt darauf an.
Great idea! | Tolle Idee!
Great job! | Tolle Arbeit!
Good work! | Gute Arbeit!
Good answer. | Gute Antwort.
Good boy! | Braver Junge!
Good girl! | Braves Mädchen!
Good news! | Gute Nachrichten!
Good point. | Guter Punkt.
Good for you! | Schön für dich!
Bad luck! | Pech!
Bad idea. | Schlechte Idee.
Not now. | Nicht jetzt.
Not today. | Heute nicht.
Not me. | Ich nicht.
Not here. | Nicht hier.
Not really. | Nicht wirklich.
Not much. | Nicht viel.
Not again! | Nicht schon wieder!
Me neither. | Ich auch nicht.
So do I. | Ich auch.
So am I. | Ich auch.
Never! | Niemals!
Always. | Immer.
Sometimes. | Manchmal.
Often. | Oft.
Already? | Schon?
Again? | Schon wieder?
Once again. | Noch einmal.
Once more, please. | Noch einmal, bitte.
Again, please. | Noch einmal, bitte.
Nothing. | Nichts.
Everything. | Alles.
Something. | Etwas.
Nobody. | Niemand.
Everyone. | Alle.
Anything else? | Sonst noch etwas?
Nothing else, thanks. | Sonst nichts, danke.
What? | Was?
What else? | Was noch?
What now? | Was nun?
What for? | Wofür?
Who else? | Wer noch?
Who's there? | Wer ist da?
Who is it? | Wer ist es?
Who is he? | Wer ist er?
Who is she? | Wer ist sie?
Who knows? | Wer weiß?
Who said that? | Wer hat das gesagt?
Which? | Welche?
Which one? | Welches?
How? | Wie?
How come? | Wieso?
How long? | Wie lange?
How far? | Wie weit?
How often? | Wie oft?
How old? | Wie alt?
How big? | Wie groß?
How many people? | Wie viele Leute?
How many times? | Wie oft?
How so? | Wieso?
How do you know? | Woher weißt du das?
How do you know that? | Woher wissen Sie das?
How does it work? | Wie funktioniert das?
How does that work? | Wie geht das?
How tall are you? | Wie groß bist du?
How long does it take? | Wie lange dauert es?
How long will you stay? | Wie lange bleibst du?
How far is it? | Wie weit ist es?
How late is it open? | Wie lange ist es geöffnet?
Since when? | Seit wann?
Until when? | Bis wann?
When exactly? | Wann genau?
When is it? | Wann ist es?
When are you coming? | Wann kommst du?
When will you come back? | Wann kommst du zurück?
When do we meet? | Wann treffen wir uns?
When is your birthday? | Wann hast du Geburtstag?
When is dinner? | Wann gibt es Abendessen?
At what time? | Um wie viel Uhr?
What day is it? | Welcher Tag ist es?
What's the date today? | Der Wievielte ist heute?
What's today's date? | Welches Datum haben wir heute?
What day is tomorrow? | Welcher Tag ist morgen?
Do you have the time? | Können Sie mir sagen, wie spät es ist?
Can you tell me the time? | Kannst du mir sagen, wie spät es ist?
Where to? | Wohin?
Where from? | Woher?
Where is it? | Wo ist es?
Where is he? | Wo ist er?
Where is she? | Wo ist sie?
Where are we? | Wo sind wir?
Where am I? | Wo bin ich?
Where were you? | Wo warst du?
Where do you live? | Wo wohnst du?
Where do you live? | Wo wohnen Sie?
Where do you work? | Wo arbeitest du?
Where do you work? | Wo arbeiten Sie?
Where do you want to go? | Wohin möchtest du gehen?
Where does he come from? | Woher kommt er?
Where is he from? | Woher kommt er?
Where is she from? | Woher kommt sie?
Where are they from? | Woher kommen sie?
Where are your parents from? | Woher kommen deine Eltern?
Where can I buy tickets? | Wo kann ich Karten kaufen?
Where can I find a taxi? | Wo finde ich ein Taxi?
Where does it hurt? | Wo tut es weh?
Where shall we meet? | Wo sollen wir uns treffen?
Why are you crying? | Warum weinst du?
Why are you laughing? | Warum lachst du?
Why are you here? | Warum bist du hier?
Why do you ask? | Warum fragst du?
What are you looking for? | Was suchst du?
What are you thinking about? | Woran denkst du?
What are you reading? | Was liest du?
What are you eating? | Was isst du?
What are you saying? | Was sagst du?
What are you doing tonight? | Was machst du heute Abend?
What are you doing tomorrow? | Was machst du morgen?
What are you doing today? | Was machst du heute?
What are you doing here? | Was machst du hier?
What are you doing this weekend? | Was machst du am Wochenende?
What do you do? | Was machst du beruflich?
What is your job? | Was bist du von Beruf?
What is your profession? | Was ist Ihr Beruf?
What do you think? | Was denkst du?
What do you mean? | Was meinst du?
What do you mean? | Was meinen Sie?
What do you need? | Was brauchst du?
What do you know? | Was weißt du?
What do you see? | Was siehst du?
What do you like? | Was magst du?
What did you say? | Was hast du gesagt?
What did you say? | Was haben Sie gesagt?
What did you do? | Was hast du gemacht?
What would you like? | Was möchtest du?
What would you like? | Was möchten Sie?
What would you like to eat? | Was möchten Sie essen?
What would you like to eat? | Was möchtest du essen?
What can I get you? | Was darf ich Ihnen bringen?
What can you recommend? | Was können Sie empfehlen?
What does this mean? | Was bedeutet dies?
What does this word mean? | Was bedeutet dieses Wort?
What does it mean? | Was bedeutet es?
What color is it? | Welche Farbe hat es?
What colour is it? | Welche Farbe hat es?
What size do you need? | Welche Größe brauchen Sie?
What is it? | Was ist es?
What's her name? | Wie heißt sie?
What is her name? | Wie ist ihr Name?
What's your name? | Wie heißen Sie?
Where are you? | Wo sind Sie?
Where are you going? | Wohin gehen Sie?
Who are you? | Wer sind Sie?
What do you want? | Was wollen Sie?
What was your name again? | Wie war noch mal dein Name?
What's your first name? | Wie ist dein Vorname?
What's your last name? | Wie ist dein Nachname?
What's your address? | Wie ist deine Adresse?
What's your address? | Wie ist Ihre Adresse?
What's your email address? | Wie ist deine E-Mail-Adresse?
What's your number? | Wie ist deine Nummer?
What's your favorite color? | Was ist deine Lieblingsfarbe?
What's your favourite food? | Was ist dein Lieblingsessen?
What's your hobby? | Was ist dein Hobby?
What are your hobbies? | Was sind deine Hobbys?
May I ask your name? | Darf ich fragen, wie Sie heißen?
May I introduce myself? | Darf ich mich vorstellen?
May I come in? | Darf ich hereinkommen?
May I sit here? | Darf ich hier sitzen?
May I smoke here? | Darf ich hier rauchen?
May I have this? | Darf ich das haben?
May I use your phone? | Darf ich dein Telefon benutzen?
Can I ask you something? | Kann ich dich etwas fragen?
Can I ask you a question? | Kann ich dir eine Frage stellen?
Can I come in? | Kann ich reinkommen?
Can I come with you? | Kann ich mitkommen?
Can I try it on? | Kann ich es anprobieren?
Can I pay here? | Kann ich hier bezahlen?
Can I pay in cash? | Kann ich bar bezahlen?
Can I pay with euros? | Kann ich mit Euro bezahlen?
Can I go now? | Kann ich jetzt gehen?
Can I see it? | Kann ich es sehen?
Can you hear me? | Kannst du mich hören?
Can you see me? | Kannst du mich sehen?
Can you come? | Kannst du kommen?
Can you come tomorrow? | Kannst du morgen kommen?
Can you drive? | Kannst du Auto fahren?
Can you cook? | Kannst du kochen?
Can you speak German? | Kannst du Deutsch sprechen?
Could you speak louder, please? | Könnten Sie bitte lauter sprechen?
Could you say that again? | Könnten Sie das noch einmal sagen?
Could you write that down? | Könnten Sie das aufschreiben?
Please repeat that. | Bitte wiederholen Sie das.
Please speak slowly. | Bitte sprechen Sie langsam.
Please speak English. | Bitte sprechen Sie Englisch.
Do you understand? | Verstehst du?
Do you understand? | Verstehen Sie?
Did you understand? | Hast du verstanden?
Do you know him? | Kennst du ihn?
Do you know her? | Kennst du sie?
Do you know that? | Weißt du das?
Do you know what time it is? | Weißt du, wie spät es ist?
Do you remember me? | Erinnerst du dich an mich?
Do you live here? | Wohnst du hier?
Do you work here? | Arbeiten Sie hier?
Do you like it? | Gefällt es dir?
Do you like it here? | Gefällt es dir hier?
Do you like me? | Magst du mich?
Do you love me? | Liebst du mich?
Do you have time? | Hast du Zeit?
Do you have time? | Haben Sie Zeit?
Do you have time tomorrow? | Hast du morgen Zeit?
Do you have a minute? | Hast du kurz Zeit?
Do you have a reservation? | Haben Sie eine Reservierung?
Do you have a boyfriend? | Hast du einen Freund?
Do you have a girlfriend? | Hast du eine Freundin?
Do you have any questions? | Hast du noch Fragen?
Do you have any questions? | Haben Sie noch Fragen?
Do you have pets? | Hast du Haustiere?
Do you believe me? | Glaubst du mir?
Do you want this? | Willst du das?
Do you take cash? | Nehmen Sie Bargeld?
Are you ready? | Bist du bereit?
Are you ready? | Sind Sie bereit?
Are you okay? | Bist du okay?
Are you serious? | Ist das dein Ernst?
Are you coming? | Kommst du?
Are you coming with us? | Kommst du mit uns?
Are you there? | Bist du da?
Are you here? | Bist du hier?
Are you at home? | Bist du zu Hause?
Are you alone? | Bist du allein?
Are you crazy? | Bist du verrückt?
Are you kidding? | Machst du Witze?
Are you from here? | Bist du von hier?
Are you from Germany? | Kommst du aus Deutschland?
Are you American? | Bist du Amerikaner?
Are you on holiday? | Bist du im Urlaub?
Are you open on Sundays? | Haben Sie sonntags geöffnet?
Is it true? | Ist das wahr?
Is that true? | Stimmt das?
Is that right? | Ist das richtig?
Is that so? | Ist das so?
Is that all? | Ist das alles?
Is that possible? | Ist das möglich?
Is that far? | Ist das weit?
Is it near here? | Ist es hier in der Nähe?
Is it far? | Ist es weit?
Is it expensive? | Ist es teuer?
Is it free? | Ist es kostenlos?
Is it open? | Ist es geöffnet?
Is it safe? | Ist es sicher?
Is it good? | Ist es gut?
Is this seat free? | Ist dieser Platz frei?
Is this right? | Ist das richtig?
Is this yours? | Gehört das dir?
Is there a problem? | Gibt es ein Problem?
Is there Wi-Fi here? | Gibt es hier WLAN?
Is breakfast included? | Ist das Frühstück inbegriffen?
Is anybody there? | Ist da jemand?
It's me. | Ich bin's.
Me? | Ich?
My name is on the list. | Mein Name steht auf der Liste.
I'm new here. | Ich bin neu hier.
I'm not from here. | Ich bin nicht von hier.
I'm a tourist. | Ich bin Tourist.
I'm on holiday. | Ich bin im Urlaub.
I'm on vacation. | Ich bin im Urlaub.
I'm here. | Ich bin hier.
I'm home. | Ich bin zu Hause.
I'm at home. | Ich bin zu Hause.
I'm at work. | Ich bin bei der Arbeit.
I'm on my way. | Ich bin unterwegs.
I'm coming. | Ich komme.
I'm coming! | Ich komme schon!
I'm going home. | Ich gehe nach Hause.
I'm leaving. | Ich gehe.
I'm staying. | Ich bleibe.
I'm back. | Ich bin zurück.
I'm busy. | Ich bin beschäftigt.
I'm late. | Ich bin spät dran.
I'm in a hurry. | Ich habe es eilig.
I'm bored. | Mir ist langweilig.
I'm cold. | Mir ist kalt.
I'm hot. | Mir ist heiß.
I'm warm. | Mir ist warm.
I'm dizzy. | Mir ist schwindelig.
Are you cold? | Ist dir kalt?
I'm scared. | Ich habe Angst.
I'm right. | Ich habe recht.
You're right. | Du hast recht.
You're right. | Sie haben recht.
You're wrong. | Du irrst dich.
He's right. | Er hat recht.
I'm lucky. | Ich habe Glück.
I'm full. | Ich bin satt.
I'm single. | Ich bin ledig.
I'm married. | Ich bin verheiratet.
I'm not married. | Ich bin nicht verheiratet.
I'm pregnant. | Ich bin schwanger.
I'm joking. | Ich mache Witze.
I'm just kidding. | Ich mache nur Spaß.
I'm working. | Ich arbeite.
I'm looking forward to it. | Ich freue mich darauf.
I'm looking forward to seeing you. | Ich freue mich darauf, dich zu sehen.
I'm interested in music. | Ich interessiere mich für Musik.
I'm learning German. | Ich lerne Deutsch.
I'm allergic to nuts. | Ich bin gegen Nüsse allergisch.
I'm proud of him. | Ich bin stolz auf ihn.
I'm afraid of spiders. | Ich habe Angst vor Spinnen.
I know. | Ich weiß.
I know that. | Das weiß ich.
I know him. | Ich kenne ihn.
I know her. | Ich kenne sie.
I know you. | Ich kenne dich.
I don't know him. | Ich kenne ihn nicht.
I don't know yet. | Ich weiß es noch nicht.
I have no idea. | Ich habe keine Ahnung.
No idea. | Keine Ahnung.
I see. | Ach so.
I understand you. | Ich verstehe dich.
I don't understand you. | Ich verstehe dich nicht.
I don't understand that. | Das verstehe ich nicht.
I didn't understand. | Ich habe es nicht verstanden.
I can't hear you. | Ich kann dich nicht hören.
I can't. | Ich kann nicht.
I can do it. | Ich kann das.
I can't sleep. | Ich kann nicht schlafen.
I can't wait! | Ich kann es kaum erwarten!
I can't believe it! | Ich kann es nicht glauben!
I can't find it. | Ich kann es nicht finden.
I can swim. | Ich kann schwimmen.
I speak English. | Ich spreche Englisch.
I don't speak German. | Ich spreche kein Deutsch.
I speak German and English. | Ich spreche Deutsch und Englisch.
I only speak English. | Ich spreche nur Englisch.
I speak a bit of Spanish. | Ich spreche ein bisschen Spanisch.
I speak a little French. | Ich spreche ein wenig Französisch.
I don't speak German very well. | Ich spreche nicht sehr gut Deutsch.
I love him. | Ich liebe ihn.
I love her. | Ich liebe sie.
I love you too. | Ich liebe dich auch.
I love you so much. | Ich liebe dich so sehr.
I love you very much. | Ich liebe dich sehr.
I love you, Mom. | Ich liebe dich, Mama.
I love this song. | Ich liebe dieses Lied.
I love this city. | Ich liebe diese Stadt.
I love my family. | Ich liebe meine Familie.
I love that. | Das liebe ich.
I love summer. | Ich liebe den Sommer.
We love you. | Wir lieben dich.
I like it. | Es gefällt mir.
I like that. | Das gefällt mir.
I like it very much. | Es gefällt mir sehr.
I like him. | Ich mag ihn.
I like her. | Ich mag sie.
I don't like it. | Es gefällt mir nicht.
I don't like that. | Das gefällt mir nicht.
I hate it. | Ich hasse es.
I hate you. | Ich hasse dich.
I miss you too. | Ich vermisse dich auch.
I miss you so much. | Ich vermisse dich so sehr.
I miss him. | Ich vermisse ihn.
I miss her. | Ich vermisse sie.
We miss you. | Wir vermissen dich.
I need you. | Ich brauche dich.
I need it. | Ich brauche es.
I need water. | Ich brauche Wasser.
I need money. | Ich brauche Geld.
I need time. | Ich brauche Zeit.
I need a break. | Ich brauche eine Pause.
I need a taxi. | Ich brauche ein Taxi.
I need a dentist. | Ich brauche einen Zahnarzt.
I need medicine. | Ich brauche Medizin.
I want this. | Ich will das.
I want you. | Ich will dich.
I want to sleep. | Ich will schlafen.
I want to go home. | Ich will nach Hause.
I don't want to. | Ich will nicht.
I don't want that. | Das will ich nicht.
I don't care. | Das ist mir egal.
I don't mind. | Das macht mir nichts aus.
I don't have any money. | Ich habe kein Geld.
I have no money. | Ich habe kein Geld.
I have time. | Ich habe Zeit.
I have an idea. | Ich habe eine Idee.
I have a problem. | Ich habe ein Problem.
I have a reservation. | Ich habe eine Reservierung.
I have an appointment. | Ich habe einen Termin.
I have to work. | Ich muss arbeiten.
I have to go. | Ich muss gehen.
I must go. | Ich muss gehen.
I need to go. | Ich muss los.
I've got to go. | Ich muss los.
I have to go home now. | Ich muss jetzt nach Hause gehen.
We have to go now. | Wir müssen jetzt gehen.
I think about you. | Ich denke an dich.
I'm thinking of you. | Ich denke an dich.
I believe you. | Ich glaube dir.
I don't believe you. | Ich glaube dir nicht.
I don't believe it. | Ich glaube es nicht.
I promise. | Ich verspreche es.
I forgot. | Ich habe es vergessen.
I forgot it. | Ich habe es vergessen.
I remember. | Ich erinnere mich.
I don't remember. | Ich erinnere mich nicht.
I swear. | Ich schwöre.
I give up. | Ich gebe auf.
I was here. | Ich war hier.
I was at home. | Ich war zu Hause.
I'll be there. | Ich werde da sein.
I'll be right back. | Ich bin gleich wieder da.
I'll be back soon. | Ich bin bald zurück.
I'll be back. | Ich komme wieder.
I'll call you. | Ich rufe dich an.
I'll call you tomorrow. | Ich rufe dich morgen an.
I'll call you later. | Ich rufe dich später an.
I'll wait. | Ich warte.
I'll wait here. | Ich warte hier.
I'll help you. | Ich helfe dir.
I'll take this one. | Ich nehme dieses.
I'll take both. | Ich nehme beide.
I'll try. | Ich versuche es.
I'll think about it. | Ich denke darüber nach.
I'll do it. | Ich mache es.
I'll miss you. | Ich werde dich vermissen.
I'd like to pay. | Ich möchte bezahlen.
I'd like to order. | Ich möchte bestellen.
I'd like to see it. | Ich möchte es sehen.
I'd like this, please. | Ich möchte das hier, bitte.
I'd like to book a room. | Ich möchte ein Zimmer buchen.
I'd like to make a reservation. | Ich möchte reservieren.
I would like to reserve a table. | Ich möchte einen Tisch reservieren.
I'd love to! | Sehr gern!
With pleasure. | Mit Vergnügen.
Gladly. | Gern.
Call me! | Ruf mich an!
Call me tomorrow. | Ruf mich morgen an.
Call me later. | Ruf mich später an.
Call a doctor! | Rufen Sie einen Arzt!
Call the fire brigade! | Rufen Sie die Feuerwehr!
Call a taxi, please. | Rufen Sie bitte ein Taxi.
Text me! | Schreib mir!
Write to me! | Schreib mir!
Write soon! | Schreib bald!
Tell me. | Sag es mir.
Tell me more. | Erzähl mir mehr.
Tell me the truth. | Sag mir die Wahrheit.
Show me. | Zeig es mir.
Show me, please. | Zeigen Sie es mir bitte.
Give it to me. | Gib es mir.
Give me that. | Gib mir das.
Give me a minute. | Gib mir eine Minute.
Give me your hand. | Gib mir deine Hand.
Give me five! | Gib mir fünf!
Take it. | Nimm es.
Take this. | Nimm das.
Take your time. | Lass dir Zeit.
Let me see. | Lass mich sehen.
Let me in! | Lass mich rein!
Let me help you. | Lass mich dir helfen.
Let's eat! | Lass uns essen!
Let's start. | Fangen wir an.
Let's dance! | Lass uns tanzen!
Let's go home. | Lass uns nach Hause gehen.
Let's meet tomorrow. | Treffen wir uns morgen.
Let's see. | Mal sehen.
Let's try it. | Versuchen wir es.
Here I am. | Hier bin ich.
Here it is. | Hier ist es.
There it is. | Da ist es.
There you are! | Da bist du ja!
Here, please. | Hier, bitte.
Over there. | Dort drüben.
Left or right? | Links oder rechts?
On the left. | Auf der linken Seite.
On the right. | Auf der rechten Seite.
To the left. | Nach links.
To the right. | Nach rechts.
Straight ahead. | Geradeaus.
Keep straight on. | Immer geradeaus.
Go left. | Geh nach links.
Go right. | Geh nach rechts.
Turn left at the corner. | Biegen Sie an der Ecke links ab.
Turn right at the traffic lights. | Biegen Sie an der Ampel rechts ab.
Turn left here. | Biegen Sie hier links ab.
Turn right here. | Biegen Sie hier rechts ab.
Turn around. | Dreh dich um.
Go straight. | Gehen Sie geradeaus weiter.
Go straight on, then left. | Gehen Sie geradeaus und dann links.
Take the first street on the left. | Nehmen Sie die erste Straße links.
Take the second street on the right. | Nehmen Sie die zweite Straße rechts.
It's around the corner. | Es ist um die Ecke.
It's just around the corner. | Es ist gleich um die Ecke.
It's on the left. | Es ist auf der linken Seite.
It's on the right. | Es ist auf der rechten Seite.
It's not far. | Es ist nicht weit.
It's far away. | Es ist weit weg.
It's far. | Es ist weit.
It's near. | Es ist in der Nähe.
It's here. | Es ist hier.
It's over there. | Es ist dort drüben.
Next to the bank. | Neben der Bank.
Opposite the church. | Gegenüber der Kirche.
Behind the house. | Hinter dem Haus.
We are lost. | Wir haben uns verlaufen.
I got lost. | Ich habe mich verirrt.
Can you show me on the map? | Können Sie mir das auf der Karte zeigen?
How much is that? | Was kostet das?
How much is this? | Wie viel kostet das hier?
How much are these? | Was kosten die hier?
How much does it cost? | Wie viel kostet es?
How much does that cost? | Wie viel kostet das?
How much do I owe you? | Was schulde ich Ihnen?
How much money do you have? | Wie viel Geld hast du?
How much time do we have? | Wie viel Zeit haben wir?
What does it cost? | Was kostet es?
What's the price? | Was ist der Preis?
That's expensive. | Das ist teuer.
That's very expensive. | Das ist sehr teuer.
That's too much. | Das ist zu viel.
That's cheap. | Das ist billig.
That's too small. | Das ist zu klein.
It's too big. | Es ist zu groß.
It's too small. | Es ist zu klein.
It's very cheap. | Es ist sehr billig.
It's cheap. | Es ist billig.
It's expensive. | Es ist teuer.
It's free. | Es ist kostenlos.
Anything cheaper? | Gibt es etwas Billigeres?
Do you have something cheaper? | Haben Sie etwas Billigeres?
Do you have a bigger size? | Haben Sie eine größere Größe?
Do you have this in another color? | Haben Sie das in einer anderen Farbe?
A bag, please. | Eine Tüte, bitte.
Cash or card? | Bar oder mit Karte?
By card, please. | Mit Karte, bitte.
Cash, please. | Bar, bitte.
Keep the change. | Stimmt so.
The receipt, please. | Die Quittung, bitte.
The check, please. | Die Rechnung, bitte.
Check, please. | Die Rechnung, bitte.
Can I have the bill, please? | Kann ich bitte die Rechnung haben?
Could we have the bill, please? | Könnten wir bitte die Rechnung haben?
Could I have the menu, please? | Könnte ich bitte die Speisekarte haben?
Waiter! | Herr Ober!
To go, please. | Zum Mitnehmen, bitte.
For here or to go? | Zum Hieressen oder zum Mitnehmen?
Together or separately? | Zusammen oder getrennt?
I'm ready to order. | Ich möchte gern bestellen.
I'm starving. | Ich habe einen Bärenhunger.
I'm not hungry. | Ich habe keinen Hunger.
I'm vegan. | Ich bin Veganer.
I don't drink alcohol. | Ich trinke keinen Alkohol.
I don't eat fish. | Ich esse keinen Fisch.
I don't eat pork. | Ich esse kein Schweinefleisch.
It's delicious! | Es ist köstlich!
That was delicious. | Das war köstlich.
That's delicious! | Das ist lecker!
Very tasty! | Sehr lecker!
It tastes great. | Es schmeckt großartig.
It tastes bad. | Es schmeckt schlecht.
Did you like it? | Hat es dir geschmeckt?
Breakfast is ready. | Das Frühstück ist fertig.
Dinner is ready. | Das Abendessen ist fertig.
Lunch is ready. | Das Mittagessen ist fertig.
Another one, please. | Noch eins, bitte.
Another beer, please. | Noch ein Bier, bitte.
It's early. | Es ist früh.
It's late. | Es ist spät.
It's already late. | Es ist schon spät.
It's too late. | Es ist zu spät.
It's too early. | Es ist zu früh.
It's noon. | Es ist Mittag.
It's midnight. | Es ist Mitternacht.
It's time. | Es ist Zeit.
It's time to go. | Es ist Zeit zu gehen.
It's your turn. | Du bist dran.
It's my turn. | Ich bin dran.
It's my birthday. | Ich habe Geburtstag.
Today is my birthday. | Heute ist mein Geburtstag.
It's a secret. | Es ist ein Geheimnis.
It's a present. | Es ist ein Geschenk.
It's for you. | Es ist für dich.
This is for you. | Das ist für dich.
This is for you. | Das ist für Sie.
It's yours. | Es gehört dir.
It's mine. | Es gehört mir.
That's mine. | Das gehört mir.
It's important. | Es ist wichtig.
It's urgent. | Es ist dringend.
It's an emergency! | Es ist ein Notfall!
It's dangerous. | Es ist gefährlich.
It's easy. | Es ist leicht.
It's difficult. | Es ist schwierig.
It's boring. | Es ist langweilig.
It's beautiful. | Es ist schön.
It's wonderful. | Es ist wunderbar.
It's great. | Es ist großartig.
It's good. | Es ist gut.
It's bad. | Es ist schlecht.
It's nice here. | Es ist schön hier.
It's true. | Es ist wahr.
It's possible. | Es ist möglich.
It's impossible. | Es ist unmöglich.
It's over. | Es ist vorbei.
It's open. | Es ist offen.
It's closed. | Es ist geschlossen.
It's broken. | Es ist kaputt.
It's new. | Es ist neu.
It's old. | Es ist alt.
It's dark. | Es ist dunkel.
It's quiet. | Es ist ruhig.
It works. | Es funktioniert.
It doesn't work. | Es funktioniert nicht.
It hurts. | Es tut weh.
It hurts here. | Es tut hier weh.
It's raining again. | Es regnet schon wieder.
It was raining yesterday. | Gestern hat es geregnet.
It rained yesterday. | Gestern hat es geregnet.
It will rain tomorrow. | Morgen wird es regnen.
It's going to rain. | Es wird regnen.
It's not raining. | Es regnet nicht.
It's snowing outside. | Draußen schneit es.
It's still snowing. | Es schneit immer noch.
It's raining hard. | Es regnet stark.
Is it raining? | Regnet es?
Is it snowing? | Schneit es?
The weather is nice. | Das Wetter ist schön.
The weather is bad. | Das Wetter ist schlecht.
The weather is beautiful today. | Das Wetter ist heute schön.
Nice weather today! | Schönes Wetter heute!
How's the weather? | Wie ist das Wetter?
How is the weather today? | Wie ist das Wetter heute?
What's the weather like today? | Wie ist das Wetter heute?
What will the weather be like tomorrow? | Wie wird das Wetter morgen?
The sun is hot. | Die Sonne ist heiß.
The moon is shining. | Der Mond scheint.
The wind is blowing. | Der Wind weht.
It's a nice day. | Es ist ein schöner Tag.
It's a beautiful evening. | Es ist ein schöner Abend.
What a beautiful morning! | Was für ein schöner Morgen!
I feel ill. | Ich fühle mich krank.
I feel dizzy. | Mir ist schwindelig.
I caught a cold. | Ich habe mich erkältet.
I'm ill. | Ich bin krank.
I need a doctor now. | Ich brauche jetzt einen Arzt.
I have to see a doctor. | Ich muss zum Arzt.
I'm hurt. | Ich bin verletzt.
Are you sick? | Bist du krank?
Are you hurt? | Bist du verletzt?
Is he okay? | Geht es ihm gut?
Is she okay? | Geht es ihr gut?
Do you feel better? | Fühlst du dich besser?
Take this medicine. | Nehmen Sie diese Medizin.
A ticket, please. | Eine Fahrkarte, bitte.
Two tickets, please. | Zwei Fahrkarten, bitte.
One way or return? | Einfach oder hin und zurück?
Your ticket, please. | Ihre Fahrkarte, bitte.
Your passport, please. | Ihren Pass, bitte.
Is this the train to Berlin? | Ist das der Zug nach Berlin?
Which platform? | Welches Gleis?
Which bus goes to the city center? | Welcher Bus fährt ins Stadtzentrum?
When does the bus leave? | Wann fährt der Bus ab?
When does the next bus come? | Wann kommt der nächste Bus?
When does the next train leave? | Wann fährt der nächste Zug?
When does the plane land? | Wann landet das Flugzeug?
When does it start? | Wann fängt es an?
When does the movie start? | Wann fängt der Film an?
The train is late. | Der Zug hat Verspätung.
The bus is coming. | Der Bus kommt.
I missed the train. | Ich habe den Zug verpasst.
I missed the bus. | Ich habe den Bus verpasst.
I lost my passport. | Ich habe meinen Pass verloren.
Do you have a single room? | Haben Sie ein Einzelzimmer?
Do you have a double room? | Haben Sie ein Doppelzimmer?
Do you have any rooms available? | Haben Sie noch Zimmer frei?
The key, please. | Den Schlüssel, bitte.
Where is the exit? | Wo ist der Ausgang?
No smoking. | Rauchen verboten.
No entry. | Kein Eintritt.
Closed. | Geschlossen.
Open. | Geöffnet.
This is my friend. | Das ist mein Freund.
This is my family. | Das ist meine Familie.
This is my house. | Das ist mein Haus.
These are my parents. | Das sind meine Eltern.
These are my children. | Das sind meine Kinder.
That's my brother. | Das ist mein Bruder.
That's me. | Das bin ich.
I have one brother and one sister. | Ich habe einen Bruder und eine Schwester.
I don't have any brothers or sisters. | Ich habe keine Geschwister.
I have no children. | Ich habe keine Kinder.
We have two kids. | Wir haben zwei Kinder.
She is his wife. | Sie ist seine Frau.
He is her husband. | Er ist ihr Mann.
He is my best friend. | Er ist mein bester Freund.
She is my best friend. | Sie ist meine beste Freundin.
She is my girlfriend. | Sie ist meine Freundin.
He is my boyfriend. | Er ist mein Freund.
She is beautiful. | Sie ist schön.
You are beautiful. | Du bist schön.
You're so beautiful! | Du bist so schön!
You look good. | Du siehst gut aus.
You look tired. | Du siehst müde aus.
You're my friend. | Du bist mein Freund.
You're my best friend. | Du bist mein bester Freund.
You're the best! | Du bist der Beste!
You're crazy! | Du bist verrückt!
You're funny. | Du bist lustig.
You speak good German. | Du sprichst gut Deutsch.
You speak very good English. | Sie sprechen sehr gut Englisch.
Your German is very good. | Dein Deutsch ist sehr gut.
You know that. | Du weißt das.
You can do it! | Du schaffst das!
You must be tired. | Du musst müde sein.
You have to go. | Du musst gehen.
You are late. | Du bist zu spät.
Will you marry me? | Willst du mich heiraten?
Marry me! | Heirate mich!
Kiss me! | Küss mich!
My dear | Mein Lieber
My love | Meine Liebe
My darling | Mein Schatz
Dear Anna | Liebe Anna
Dear Peter | Lieber Peter
Dear friends | Liebe Freunde
Dear Sir or Madam | Sehr geehrte Damen und Herren
The cat is black. | Die Katze ist schwarz.
The dog is big. | Der Hund ist groß.
The dog is barking. | Der Hund bellt.
The cat is sleeping. | Die Katze schläft.
The children are playing. | Die Kinder spielen.
The baby is crying. | Das Baby weint.
The door is open. | Die Tür ist offen.
The window is closed. | Das Fenster ist geschlossen.
The water is cold. | Das Wasser ist kalt.
The soup is hot. | Die Suppe ist heiß.
The phone is ringing. | Das Telefon klingelt.
The house is old. | Das Haus ist alt.
The sky is blue. | Der Himmel ist blau.
The key is on the table. | Der Schlüssel liegt auf dem Tisch.
The book is interesting. | Das Buch ist interessant.
The book is under the bed. | Das Buch liegt unter dem Bett.
The food is good. | Das Essen ist gut.
The room is clean. | Das Zimmer ist sauber.
The internet doesn't work. | Das Internet funktioniert nicht.
He is at home. | Er ist zu Hause.
She is at home. | Sie ist zu Hause.
We are at home. | Wir sind zu Hause.
He is not here. | Er ist nicht hier.
She isn't here. | Sie ist nicht hier.
He works in an office. | Er arbeitet in einem Büro.
She works in a school. | Sie arbeitet in einer Schule.
She works at the bank. | Sie arbeitet bei der Bank.
He works in a restaurant. | Er arbeitet in einem Restaurant.
I work in a factory. | Ich arbeite in einer Fabrik.
I work from home. | Ich arbeite von zu Hause aus.
I live alone. | Ich wohne allein.
I live here. | Ich wohne hier.
We live together. | Wir wohnen zusammen.
We're ready. | Wir sind bereit.
We're here. | Wir sind hier.
We're happy. | Wir sind glücklich.
We'll see. | Wir werden sehen.
Friends forever | Freunde für immer
No way! | Auf keinen Fall!
No chance. | Keine Chance.
No time! | Keine Zeit!
No money, no problem. | Kein Geld, kein Problem.
No, that's wrong. | Nein, das ist falsch.
Oh! | Oh!
Oh my God! | Oh mein Gott!
Oh no! | Oh nein!
Oh yes! | Oh ja!
Oops! | Hoppla!
Ouch! | Aua!
Hurray! | Hurra!
By the way | Übrigens
For example | Zum Beispiel
Of course, no problem. | Natürlich, kein Problem.
See above. | Siehe oben.
To be or not to be | Sein oder nicht sein
Yes or no? | Ja oder nein?
Now or never! | Jetzt oder nie!
More or less. | Mehr oder weniger.
Day and night | Tag und Nacht
Salt and pepper | Salz und Pfeffer
Bread and cheese | Brot und Käse
Tea or coffee? | Tee oder Kaffee?
Coffee or tea? | Kaffee oder Tee?
Tea, please. | Tee, bitte.
Good food | Gutes Essen
White wine | Weißwein
Orange juice | Orangensaft
Mineral water | Mineralwasser
Hot chocolate | Heiße Schokolade
Black coffee | Schwarzer Kaffee
Best friend | Bester Freund
Good friends | Gute Freunde
Big city | Große Stadt
New car | Neues Auto
Old man | Alter Mann
Young woman | Junge Frau
Little girl | Kleines Mädchen
Free time | Freizeit
Train station | Bahnhof
Credit card | Kreditkarte
Phone number | Telefonnummer
Email address | E-Mail-Adresse
Ice cream | Eis
Happy family | Glückliche Familie
True love | Wahre Liebe
Next year | Nächstes Jahr
Next month | Nächsten Monat
Next time | Nächstes Mal
Last week | Letzte Woche
Last year | Letztes Jahr
Last night | Gestern Abend
Last month | Letzten Monat
This week | Diese Woche
This year | Dieses Jahr
This month | Diesen Monat
This morning | Heute Morgen
This afternoon | Heute Nachmittag
This evening | Heute Abend
Tonight | Heute Nacht
Tomorrow morning | Morgen früh
Tomorrow evening | Morgen Abend
Yesterday evening | Gestern Abend
The day after tomorrow | Übermorgen
The day before yesterday | Vorgestern
In the morning | Am Morgen
In the evening | Am Abend
In the afternoon | Am Nachmittag
At night | In der Nacht
At noon | Am Mittag
At the weekend | Am Wochenende
On the weekend | Am Wochenende
Every day | Jeden Tag
Every week | Jede Woche
Every year | Jedes Jahr
Right now | Gerade jetzt
Right away | Sofort
As soon as possible | So bald wie möglich
A long time ago | Vor langer Zeit
In a minute | In einer Minute
In an hour | In einer Stunde
In two weeks | In zwei Wochen
All day | Den ganzen Tag
At home | Zu Hause
At work | Bei der Arbeit
At school | In der Schule
On the table | Auf dem Tisch
In the house | Im Haus
In the car | Im Auto
With me | Mit mir
With you | Mit dir
Without you | Ohne dich
For me | Für mich
For you | Für dich
From me | Von mir
You and me | Du und ich
Me and you | Ich und du
My friend | Mein Freund
A little | Ein wenig
A little bit | Ein bisschen
A lot | Viel
Very much | Sehr
Too much | Zu viel
A little more, please. | Ein bisschen mehr, bitte.
"""

# Single words: adverbs, adjectives, verbs, short answers. Nouns with gender are in the tables below.
WORDS = """
here | hier
there | dort
now | jetzt
then | dann
yesterday | gestern
soon | bald
later | später
early | früh
late | spät
never | nie
always | immer
often | oft
sometimes | manchmal
again | wieder
already | schon
still | noch
only | nur
also | auch
very | sehr
much | viel
many | viele
more | mehr
less | weniger
enough | genug
nothing | nichts
something | etwas
everything | alles
nobody | niemand
everybody | jeder
left | links
right | rechts
straight | gerade
up | oben
down | unten
inside | drinnen
outside | draußen
together | zusammen
alone | allein
and | und
or | oder
but | aber
because | weil
with | mit
without | ohne
for | für
from | von
in | in
under | unter
between | zwischen
before | vor
after | nach
what | was
how | wie
which | welche
I | ich
you | du
he | er
she | sie
it | es
we | wir
they | sie
red | rot
yellow | gelb
black | schwarz
white | weiß
brown | braun
grey | grau
gray | grau
pink | rosa
purple | lila
orange | orange
big | groß
small | klein
little | klein
tall | groß
long | lang
short | kurz
old | alt
new | neu
young | jung
good | gut
bad | schlecht
better | besser
best | am besten
beautiful | schön
pretty | hübsch
ugly | hässlich
nice | nett
kind | freundlich
friendly | freundlich
hot | heiß
warm | warm
cold | kalt
cool | cool
fast | schnell
quick | schnell
slow | langsam
slowly | langsam
strong | stark
weak | schwach
rich | reich
poor | arm
cheap | billig
expensive | teuer
easy | einfach
difficult | schwierig
hard | hart
heavy | schwer
light | leicht
full | voll
empty | leer
open | offen
closed | geschlossen
clean | sauber
dirty | schmutzig
wet | nass
dry | trocken
dark | dunkel
bright | hell
loud | laut
quiet | leise
happy | glücklich
sad | traurig
angry | wütend
tired | müde
hungry | hungrig
thirsty | durstig
sick | krank
ill | krank
healthy | gesund
married | verheiratet
single | ledig
important | wichtig
interesting | interessant
boring | langweilig
funny | lustig
crazy | verrückt
dangerous | gefährlich
safe | sicher
true | wahr
false | falsch
wrong | falsch
correct | richtig
different | verschieden
free | frei
busy | beschäftigt
ready | bereit
sweet | süß
sour | sauer
salty | salzig
tasty | lecker
fresh | frisch
impossible | unmöglich
possible | möglich
German | Deutsch
English | Englisch
French | Französisch
Spanish | Spanisch
Italian | Italienisch
eat | essen
drink | trinken
sleep | schlafen
go | gehen
come | kommen
see | sehen
hear | hören
speak | sprechen
say | sagen
read | lesen
write | schreiben
work | arbeiten
play | spielen
learn | lernen
buy | kaufen
sell | verkaufen
give | geben
take | nehmen
make | machen
have | haben
be | sein
live | leben
laugh | lachen
cry | weinen
sing | singen
dance | tanzen
swim | schwimmen
run | laufen
walk | gehen
travel | reisen
cook | kochen
think | denken
know | wissen
understand | verstehen
forget | vergessen
search | suchen
find | finden
pay | bezahlen
open | öffnen
close | schließen
begin | beginnen
wait | warten
ask | fragen
answer | antworten
help | helfen
to eat | essen
to drink | trinken
to sleep | schlafen
to go | gehen
to be | sein
to have | haben
to love | lieben
to work | arbeiten
welcome | willkommen
sorry | Entschuldigung
excuse | entschuldigen
goodbye | auf Wiedersehen
translator | Übersetzer
language | Sprache
test | Test
example | Beispiel
milk | Milch
tea | Tee
beer | Bier
wine | Wein
juice | Saft
meat | Fleisch
fish | Fisch
rice | Reis
cheese | Käse
butter | Butter
sugar | Zucker
salt | Salz
chocolate | Schokolade
fruit | Obst
vegetables | Gemüse
breakfast | Frühstück
lunch | Mittagessen
dinner | Abendessen
food | Essen
money | Geld
time | Zeit
music | Musik
love | Liebe
peace | Frieden
luck | Glück
happiness | Glück
health | Gesundheit
freedom | Freiheit
weather | Wetter
rain | Regen
snow | Schnee
sun | Sonne
wind | Wind
summer | Sommer
winter | Winter
spring | Frühling
autumn | Herbst
fall | Herbst
Christmas | Weihnachten
Easter | Ostern
morning | Morgen
evening | Abend
night | Nacht
noon | Mittag
parents | Eltern
children | Kinder
kids | Kinder
people | Leute
trousers | Hose
glasses | Brille
work | Arbeit
help | Hilfe
information | Information
weekend | Wochenende
holiday | Urlaub
vacation | Urlaub
birthday | Geburtstag
congratulations | Glückwunsch
"""

GREETINGS = """
Good morning | Guten Morgen
Good evening | Guten Abend
Good afternoon | Guten Tag
Hello | Hallo
Hi | Hi
Hey | Hey
"""
FOLLOW_UPS = """
How are you doing? | Wie geht es dir?
Did you sleep well? | Hast du gut geschlafen?
I'm looking for the hotel. | Ich suche das Hotel.
I have a problem. | Ich habe ein Problem.
I'd like to book a table. | Ich möchte einen Tisch reservieren.
Can you help me? | Können Sie mir helfen?
Nice to see you! | Schön, dich zu sehen!
What's your name? | Wie heißt du?
What are you up to? | Was hast du vor?
Where do you live? | Wo wohnst du?
Long time no see! | Lange nicht gesehen!
How was your day? | Wie war dein Tag?
What are you doing? | Was machst du?
How can I help you? | Wie kann ich Ihnen helfen?
It's nice to meet you. | Es freut mich, Sie kennenzulernen.
I'm here. | Ich bin hier.
I'm new here. | Ich bin neu hier.
Please come in. | Bitte kommen Sie herein.
How are you and your family? | Wie geht es dir und deiner Familie?
"""

NAME_TEMPLATES = """
Hello, NAME! | Hallo, NAME!
Hello NAME | Hallo NAME
Hi NAME! | Hi NAME!
Hi, NAME. | Hi, NAME.
Hey NAME! | Hey NAME!
Good morning, NAME! | Guten Morgen, NAME!
Good morning NAME | Guten Morgen NAME
Good evening, NAME. | Guten Abend, NAME.
Good afternoon, NAME. | Guten Tag, NAME.
Good night, NAME. | Gute Nacht, NAME.
Goodbye, NAME! | Auf Wiedersehen, NAME!
Bye, NAME! | Tschüss, NAME!
See you tomorrow, NAME! | Bis morgen, NAME!
See you later, NAME. | Bis später, NAME.
Thank you, NAME. | Danke, NAME.
Thank you very much, NAME! | Vielen Dank, NAME!
Thanks, NAME! | Danke, NAME!
Sorry, NAME. | Entschuldigung, NAME.
I'm sorry, NAME. | Es tut mir leid, NAME.
Please, NAME! | Bitte, NAME!
Welcome, NAME! | Willkommen, NAME!
Congratulations, NAME! | Herzlichen Glückwunsch, NAME!
Happy birthday, NAME! | Alles Gute zum Geburtstag, NAME!
Merry Christmas, NAME! | Frohe Weihnachten, NAME!
Good luck, NAME! | Viel Glück, NAME!
How are you, NAME? | Wie geht es dir, NAME?
How are you doing, NAME? | Wie geht's dir, NAME?
How is NAME? | Wie geht es NAME?
Hello NAME, how are you? | Hallo NAME, wie geht es dir?
Hi NAME, how's it going? | Hi NAME, wie läuft's?
Nice to meet you, NAME. | Freut mich, dich kennenzulernen, NAME.
My name is NAME. | Ich heiße NAME.
My name's NAME. | Ich heiße NAME.
My name is NAME. | Mein Name ist NAME.
my name is NAME | ich heiße NAME
Hello, my name is NAME. | Hallo, ich heiße NAME.
Hi, my name is NAME. | Hi, ich heiße NAME.
Hi, I'm NAME! | Hallo, ich bin NAME!
Hello, I'm NAME. | Hallo, ich bin NAME.
I'm NAME. | Ich bin NAME.
I am NAME. | Ich bin NAME.
I'm not NAME. | Ich bin nicht NAME.
This is NAME. | Das ist NAME.
That's NAME. | Das ist NAME.
It's NAME. | Es ist NAME.
Her name is NAME. | Ihr Name ist NAME.
His name is NAME. | Sein Name ist NAME.
My friend is called NAME. | Mein Freund heißt NAME.
You can call me NAME. | Du kannst mich NAME nennen.
Are you NAME? | Bist du NAME?
Are you NAME? | Sind Sie NAME?
Is that NAME? | Ist das NAME?
Is your name NAME? | Heißt du NAME?
Where is NAME? | Wo ist NAME?
Do you know NAME? | Kennst du NAME?
Do you know NAME? | Kennen Sie NAME?
I know NAME. | Ich kenne NAME.
Have you seen NAME? | Hast du NAME gesehen?
I love you, NAME. | Ich liebe dich, NAME.
I miss you, NAME. | Ich vermisse dich, NAME.
NAME is here. | NAME ist hier.
NAME is not here. | NAME ist nicht hier.
NAME is at home. | NAME ist zu Hause.
NAME is tired. | NAME ist müde.
NAME is my friend. | NAME ist mein Freund.
NAME and I are friends. | NAME und ich sind Freunde.
NAME lives in Berlin. | NAME wohnt in Berlin.
NAME speaks German. | NAME spricht Deutsch.
NAME called me. | NAME hat mich angerufen.
Please call NAME. | Bitte ruf NAME an.
Come here, NAME! | Komm her, NAME!
Wait, NAME! | Warte, NAME!
Can you help me, NAME? | Kannst du mir helfen, NAME?
What are you doing, NAME? | Was machst du, NAME?
Can I speak to NAME? | Kann ich mit NAME sprechen?
Say hello to NAME. | Grüß NAME von mir.
"""
TITLE_TEMPLATES = """
Good morning, NAME. | Guten Morgen, NAME.
Good evening, NAME. | Guten Abend, NAME.
Good afternoon, NAME. | Guten Tag, NAME.
Hello, NAME. | Guten Tag, NAME.
Goodbye, NAME. | Auf Wiedersehen, NAME.
Thank you, NAME. | Danke, NAME.
Thank you very much, NAME. | Vielen Dank, NAME.
How are you, NAME? | Wie geht es Ihnen, NAME?
Nice to meet you, NAME. | Freut mich, Sie kennenzulernen, NAME.
Is NAME here? | Ist NAME da?
Welcome, NAME. | Herzlich willkommen, NAME.
Please sit down, NAME. | Bitte setzen Sie sich, NAME.
"""

THANKS = """
Thank you | Danke
Thanks | Danke
Thank you very much | Vielen Dank
Many thanks | Vielen Dank
Thank you so much | Vielen herzlichen Dank
Thanks a lot | Danke vielmals
"""
THANKS_FOR = """
your help | deine Hilfe
your help | Ihre Hilfe
your support | deine Unterstützung
your answer | deine Antwort
your letter | deinen Brief
your message | deine Nachricht
your email | deine E-Mail
your email | Ihre E-Mail
your call | deinen Anruf
your visit | deinen Besuch
your visit | Ihren Besuch
your time | deine Zeit
your time | Ihre Zeit
your patience | deine Geduld
your patience | Ihre Geduld
your advice | deinen Rat
your invitation | deine Einladung
your interest | Ihr Interesse
your attention | Ihre Aufmerksamkeit
your order | Ihre Bestellung
your hospitality | Ihre Gastfreundschaft
your trust | dein Vertrauen
your work | deine Arbeit
your kindness | deine Freundlichkeit
your understanding | dein Verständnis
the information | die Information
the present | das Geschenk
the gift | das Geschenk
the flowers | die Blumen
the invitation | die Einladung
the coffee | den Kaffee
the food | das Essen
the dinner | das Abendessen
the drink | das Getränk
the book | das Buch
the nice evening | den schönen Abend
the lovely day | den schönen Tag
the ride | die Fahrt
the tip | den Tipp
the photo | das Foto
the quick reply | die schnelle Antwort
the great service | den tollen Service
the warm welcome | den herzlichen Empfang
the compliment | das Kompliment
the lesson | den Unterricht
the birthday wishes | die Geburtstagswünsche
the good news | die guten Nachrichten
the reminder | die Erinnerung
"""
WISHES = """
day | Tag | m
evening | Abend | m
morning | Morgen | m
afternoon | Nachmittag | m
weekend | Wochenende | n
week | Woche | f
holiday | Urlaub | m
vacation | Urlaub | m
time | Zeit | f
Sunday | Sonntag | m
Friday | Freitag | m
party | Party | f
flight | Flug | m
stay | Aufenthalt | m
start | Start | m
trip | Reise | f
journey | Reise | f
summer | Sommer | m
birthday | Geburtstag | m
Christmas | Weihnachtsfest | n
"""
SEE_YOU = """
tonight | heute Abend
this evening | heute Abend
this afternoon | heute Nachmittag
tomorrow morning | morgen früh
tomorrow evening | morgen Abend
the day after tomorrow | übermorgen
next week | nächste Woche
next month | nächsten Monat
next year | nächstes Jahr
next time | zum nächsten Mal
at the weekend | zum Wochenende
on the weekend | zum Wochenende
in the evening | heute Abend
in an hour | in einer Stunde
in two hours | in zwei Stunden
in a minute | in einer Minute
in ten minutes | in zehn Minuten
in a week | in einer Woche
in two weeks | in zwei Wochen
in a moment | gleich
in the morning | morgen früh
on Monday | Montag
on Tuesday | Dienstag
on Wednesday | Mittwoch
on Thursday | Donnerstag
on Saturday | Samstag
on Sunday | Sonntag
next Monday | nächsten Montag
next Friday | nächsten Freitag
next Saturday | nächsten Samstag
again soon | bald
then | dann
at noon | heute Mittag
at Christmas | Weihnachten
"""

# en | de | gender | where one is | plural
PLACES = """
station | Bahnhof | m | am Bahnhof | Bahnhöfe
train station | Bahnhof | m | am Bahnhof | Bahnhöfe
airport | Flughafen | m | am Flughafen | Flughäfen
hotel | Hotel | n | im Hotel | Hotels
bank | Bank | f | in der Bank | Banken
post office | Post | f | in der Post | -
hospital | Krankenhaus | n | im Krankenhaus | Krankenhäuser
pharmacy | Apotheke | f | in der Apotheke | Apotheken
supermarket | Supermarkt | m | im Supermarkt | Supermärkte
bakery | Bäckerei | f | in der Bäckerei | Bäckereien
restaurant | Restaurant | n | im Restaurant | Restaurants
café | Café | n | im Café | Cafés
museum | Museum | n | im Museum | Museen
theater | Theater | n | im Theater | Theater
theatre | Theater | n | im Theater | Theater
cinema | Kino | n | im Kino | Kinos
church | Kirche | f | in der Kirche | Kirchen
school | Schule | f | in der Schule | Schulen
university | Universität | f | an der Universität | Universitäten
library | Bibliothek | f | in der Bibliothek | Bibliotheken
park | Park | m | im Park | Parks
beach | Strand | m | am Strand | Strände
market | Markt | m | auf dem Markt | Märkte
bus stop | Bushaltestelle | f | an der Bushaltestelle | Bushaltestellen
police station | Polizeiwache | f | auf der Polizeiwache | Polizeiwachen
city center | Stadtzentrum | n | im Stadtzentrum | Stadtzentren
town hall | Rathaus | n | im Rathaus | Rathäuser
zoo | Zoo | m | im Zoo | Zoos
swimming pool | Schwimmbad | n | im Schwimmbad | Schwimmbäder
castle | Schloss | n | im Schloss | Schlösser
bridge | Brücke | f | an der Brücke | Brücken
exit | Ausgang | m | am Ausgang | Ausgänge
entrance | Eingang | m | am Eingang | Eingänge
elevator | Aufzug | m | im Aufzug | Aufzüge
lift | Aufzug | m | im Aufzug | Aufzüge
subway station | U-Bahn-Station | f | an der U-Bahn-Station | U-Bahn-Stationen
gas station | Tankstelle | f | an der Tankstelle | Tankstellen
petrol station | Tankstelle | f | an der Tankstelle | Tankstellen
parking lot | Parkplatz | m | auf dem Parkplatz | Parkplätze
office | Büro | n | im Büro | Büros
kitchen | Küche | f | in der Küche | Küchen
bathroom | Bad | n | im Bad | Bäder
restroom | Toilette | f | auf der Toilette | Toiletten
bookstore | Buchhandlung | f | in der Buchhandlung | Buchhandlungen
department store | Kaufhaus | n | im Kaufhaus | Kaufhäuser
stadium | Stadion | n | im Stadion | Stadien
harbor | Hafen | m | am Hafen | Häfen
river | Fluss | m | am Fluss | Flüsse
lake | See | m | am See | Seen
bar | Bar | f | in der Bar | Bars
"""
PLACE_TEMPLATES = """
Where is PLACE? | Wo ist THE_NOM?
Where's PLACE? | Wo ist THE_NOM?
where is PLACE | wo ist THE_NOM
Where is PLACE, please? | Wo ist bitte THE_NOM?
Excuse me, where is PLACE? | Entschuldigung, wo ist THE_NOM?
How do I get to PLACE? | Wie komme ich ZU_PLACE?
How can I get to PLACE? | Wie komme ich ZU_PLACE?
Excuse me, how do I get to PLACE? | Entschuldigung, wie komme ich ZU_PLACE?
How far is it to PLACE? | Wie weit ist es bis ZU_PLACE?
Can you show me the way to PLACE? | Können Sie mir den Weg ZU_PLACE zeigen?
Could you tell me the way to PLACE, please? | Könnten Sie mir bitte den Weg ZU_PLACE sagen?
Is there A_PLACE near here? | Gibt es hier in der Nähe EIN_ACC?
Is there A_PLACE here? | Gibt es hier EIN_ACC?
I'm looking for PLACE. | Ich suche THE_ACC.
We're looking for A_PLACE. | Wir suchen EIN_ACC.
PLACE is over there. | THE_NOM ist dort drüben.
PLACE is on the left. | THE_NOM ist auf der linken Seite.
PLACE is not far from here. | THE_NOM ist nicht weit von hier.
PLACE is closed. | THE_NOM ist geschlossen.
I'm at PLACE. | Ich bin AT_PLACE.
We are at PLACE. | Wir sind AT_PLACE.
Let's meet at PLACE. | Treffen wir uns AT_PLACE.
I'll wait at PLACE. | Ich warte AT_PLACE.
Take me to PLACE, please. | Bringen Sie mich bitte ZU_PLACE.
To PLACE, please. | ZU_PLACE, bitte.
Is that PLACE? | Ist das THE_NOM?
Is this the way to PLACE? | Ist das der Weg ZU_PLACE?
I have to go to PLACE. | Ich muss ZU_PLACE.
"""
CITIES = """
Berlin | Berlin
Munich | München
Cologne | Köln
Hamburg | Hamburg
Vienna | Wien
Zurich | Zürich
London | London
Paris | Paris
Rome | Rom
Milan | Mailand
Venice | Venedig
Prague | Prag
Warsaw | Warschau
Moscow | Moskau
Athens | Athen
Lisbon | Lissabon
Brussels | Brüssel
Copenhagen | Kopenhagen
New York | New York
Boston | Boston
Chicago | Chicago
Tokyo | Tokio
Madrid | Madrid
Dublin | Dublin
Frankfurt | Frankfurt
Stuttgart | Stuttgart
Dresden | Dresden
Leipzig | Leipzig
Nuremberg | Nürnberg
Geneva | Genf
Amsterdam | Amsterdam
Istanbul | Istanbul
"""
CITY_TEMPLATES = """
I live in CITY. | Ich wohne in CITY.
i live in CITY | ich wohne in CITY
We live in CITY. | Wir wohnen in CITY.
She lives in CITY. | Sie wohnt in CITY.
He lives in CITY. | Er lebt in CITY.
My parents live in CITY. | Meine Eltern wohnen in CITY.
My sister lives in CITY. | Meine Schwester wohnt in CITY.
Do you live in CITY? | Wohnst du in CITY?
I work in CITY. | Ich arbeite in CITY.
I was born in CITY. | Ich wurde in CITY geboren.
I'm in CITY. | Ich bin in CITY.
I'm from CITY. | Ich komme aus CITY.
I come from CITY. | Ich komme aus CITY.
Are you from CITY? | Kommst du aus CITY?
I'm going to CITY tomorrow. | Ich fahre morgen nach CITY.
I'd like to go to CITY. | Ich möchte nach CITY fahren.
We're flying to CITY. | Wir fliegen nach CITY.
A ticket to CITY, please. | Eine Fahrkarte nach CITY, bitte.
Two tickets to CITY, please. | Zwei Fahrkarten nach CITY, bitte.
One ticket to CITY. | Eine Fahrkarte nach CITY.
How much is a ticket to CITY? | Was kostet eine Fahrkarte nach CITY?
When does the train to CITY leave? | Wann fährt der Zug nach CITY ab?
When does the bus to CITY leave? | Wann fährt der Bus nach CITY ab?
Is this the train to CITY? | Ist das der Zug nach CITY?
How far is it to CITY? | Wie weit ist es bis CITY?
Have you ever been to CITY? | Warst du schon einmal in CITY?
I've never been to CITY. | Ich war noch nie in CITY.
What's the weather like in CITY? | Wie ist das Wetter in CITY?
It's raining in CITY. | In CITY regnet es.
Welcome to CITY! | Willkommen in CITY!
CITY is a beautiful city. | CITY ist eine schöne Stadt.
CITY is very big. | CITY ist sehr groß.
Do you like CITY? | Gefällt dir CITY?
I love CITY! | Ich liebe CITY!
Greetings from CITY! | Grüße aus CITY!
See you in CITY! | Bis bald in CITY!
"""
# en | de | out of | in | into
COUNTRIES = """
Austria | Österreich | aus Österreich | in Österreich | nach Österreich
Switzerland | die Schweiz | aus der Schweiz | in der Schweiz | in die Schweiz
England | England | aus England | in England | nach England
Great Britain | Großbritannien | aus Großbritannien | in Großbritannien | nach Großbritannien
Scotland | Schottland | aus Schottland | in Schottland | nach Schottland
Ireland | Irland | aus Irland | in Irland | nach Irland
Germany | Deutschland | aus Deutschland | in Deutschland | nach Deutschland
France | Frankreich | aus Frankreich | in Frankreich | nach Frankreich
Italy | Italien | aus Italien | in Italien | nach Italien
Spain | Spanien | aus Spanien | in Spanien | nach Spanien
Portugal | Portugal | aus Portugal | in Portugal | nach Portugal
the Netherlands | die Niederlande | aus den Niederlanden | in den Niederlanden | in die Niederlande
Belgium | Belgien | aus Belgien | in Belgien | nach Belgien
Denmark | Dänemark | aus Dänemark | in Dänemark | nach Dänemark
Sweden | Schweden | aus Schweden | in Schweden | nach Schweden
Norway | Norwegen | aus Norwegen | in Norwegen | nach Norwegen
Finland | Finnland | aus Finnland | in Finnland | nach Finnland
Poland | Polen | aus Polen | in Polen | nach Polen
Hungary | Ungarn | aus Ungarn | in Ungarn | nach Ungarn
Greece | Griechenland | aus Griechenland | in Griechenland | nach Griechenland
Turkey | die Türkei | aus der Türkei | in der Türkei | in die Türkei
Russia | Russland | aus Russland | in Russland | nach Russland
Ukraine | die Ukraine | aus der Ukraine | in der Ukraine | in die Ukraine
Romania | Rumänien | aus Rumänien | in Rumänien | nach Rumänien
the USA | die USA | aus den USA | in den USA | in die USA
the United States | die Vereinigten Staaten | aus den Vereinigten Staaten | in den Vereinigten Staaten | in die Vereinigten Staaten
America | Amerika | aus Amerika | in Amerika | nach Amerika
Canada | Kanada | aus Kanada | in Kanada | nach Kanada
Mexico | Mexiko | aus Mexiko | in Mexiko | nach Mexiko
Brazil | Brasilien | aus Brasilien | in Brasilien | nach Brasilien
Argentina | Argentinien | aus Argentinien | in Argentinien | nach Argentinien
China | China | aus China | in China | nach China
Japan | Japan | aus Japan | in Japan | nach Japan
India | Indien | aus Indien | in Indien | nach Indien
Australia | Australien | aus Australien | in Australien | nach Australien
New Zealand | Neuseeland | aus Neuseeland | in Neuseeland | nach Neuseeland
Egypt | Ägypten | aus Ägypten | in Ägypten | nach Ägypten
Africa | Afrika | aus Afrika | in Afrika | nach Afrika
Asia | Asien | aus Asien | in Asien | nach Asien
Iran | der Iran | aus dem Iran | im Iran | in den Iran
"""
COUNTRY_TEMPLATES = """
I'm from COUNTRY. | Ich komme AUS.
I am from COUNTRY. | Ich bin AUS.
I come from COUNTRY. | Ich komme AUS.
He is from COUNTRY. | Er kommt AUS.
She comes from COUNTRY. | Sie kommt AUS.
We're from COUNTRY. | Wir kommen AUS.
They are from COUNTRY. | Sie kommen AUS.
Are you from COUNTRY? | Kommst du AUS?
Are you from COUNTRY? | Kommen Sie AUS?
I live in COUNTRY. | Ich lebe INSIDE.
My brother lives in COUNTRY. | Mein Bruder lebt INSIDE.
Welcome to COUNTRY! | Willkommen INSIDE!
Have you ever been to COUNTRY? | Warst du schon einmal INSIDE?
I want to go to COUNTRY. | Ich möchte INTO reisen.
We're going to COUNTRY. | Wir fahren INTO.
It's very hot in COUNTRY. | INSIDE ist es sehr heiß.
How do you like it in COUNTRY? | Wie gefällt es dir INSIDE?
"""
LANGUAGES = """
English | Englisch
German | Deutsch
French | Französisch
Spanish | Spanisch
Italian | Italienisch
Portuguese | Portugiesisch
Dutch | Niederländisch
Russian | Russisch
Polish | Polnisch
Turkish | Türkisch
Arabic | Arabisch
Chinese | Chinesisch
Japanese | Japanisch
Greek | Griechisch
Romanian | Rumänisch
Swedish | Schwedisch
"""
LANGUAGE_TEMPLATES = """
Do you speak LANGUAGE? | Sprichst du LANGUAGE?
Do you speak LANGUAGE? | Sprechen Sie LANGUAGE?
do you speak LANGUAGE | sprechen Sie LANGUAGE
Do you speak LANGUAGE? | Sprecht ihr LANGUAGE?
Does anyone here speak LANGUAGE? | Spricht hier jemand LANGUAGE?
I speak LANGUAGE. | Ich spreche LANGUAGE.
I don't speak LANGUAGE. | Ich spreche kein LANGUAGE.
I speak a little LANGUAGE. | Ich spreche ein bisschen LANGUAGE.
I can speak LANGUAGE. | Ich kann LANGUAGE sprechen.
I'm learning LANGUAGE. | Ich lerne LANGUAGE.
I don't understand LANGUAGE. | Ich verstehe kein LANGUAGE.
He speaks LANGUAGE. | Er spricht LANGUAGE.
She speaks very good LANGUAGE. | Sie spricht sehr gut LANGUAGE.
We speak LANGUAGE at home. | Wir sprechen zu Hause LANGUAGE.
How do you say that in LANGUAGE? | Wie sagt man das auf LANGUAGE?
What is that in LANGUAGE? | Was heißt das auf LANGUAGE?
What's this called in LANGUAGE? | Wie heißt das auf LANGUAGE?
Do you have a menu in LANGUAGE? | Haben Sie eine Speisekarte auf LANGUAGE?
Can you say it in LANGUAGE? | Kannst du es auf LANGUAGE sagen?
LANGUAGE is difficult. | LANGUAGE ist schwierig.
LANGUAGE is a beautiful language. | LANGUAGE ist eine schöne Sprache.
Please speak LANGUAGE. | Bitte sprechen Sie LANGUAGE.
My LANGUAGE is not very good. | Mein LANGUAGE ist nicht sehr gut.
"""

# en | de | gender | plural
ITEMS = """
book | Buch | n | Bücher
pen | Stift | m | Stifte
pencil | Bleistift | m | Bleistifte
bag | Tasche | f | Taschen
key | Schlüssel | m | Schlüssel
phone | Handy | n | Handys
cell phone | Handy | n | Handys
computer | Computer | m | Computer
laptop | Laptop | m | Laptops
car | Auto | n | Autos
bicycle | Fahrrad | n | Fahrräder
bike | Fahrrad | n | Fahrräder
umbrella | Regenschirm | m | Regenschirme
watch | Armbanduhr | f | Armbanduhren
clock | Uhr | f | Uhren
camera | Kamera | f | Kameras
wallet | Geldbeutel | m | Geldbeutel
passport | Pass | m | Pässe
ticket | Fahrkarte | f | Fahrkarten
suitcase | Koffer | m | Koffer
map | Karte | f | Karten
newspaper | Zeitung | f | Zeitungen
knife | Messer | n | Messer
spoon | Löffel | m | Löffel
fork | Gabel | f | Gabeln
plate | Teller | m | Teller
cup | Tasse | f | Tassen
glass | Glas | n | Gläser
bottle | Flasche | f | Flaschen
table | Tisch | m | Tische
chair | Stuhl | m | Stühle
bed | Bett | n | Betten
lamp | Lampe | f | Lampen
guitar | Gitarre | f | Gitarren
ball | Ball | m | Bälle
towel | Handtuch | n | Handtücher
toothbrush | Zahnbürste | f | Zahnbürsten
present | Geschenk | n | Geschenke
credit card | Kreditkarte | f | Kreditkarten
television | Fernseher | m | Fernseher
ring | Ring | m | Ringe
dictionary | Wörterbuch | n | Wörterbücher
"""
CLOTHES = """
shirt | Hemd | n | Hemden
T-shirt | T-Shirt | n | T-Shirts
jacket | Jacke | f | Jacken
coat | Mantel | m | Mäntel
dress | Kleid | n | Kleider
skirt | Rock | m | Röcke
sweater | Pullover | m | Pullover
hat | Hut | m | Hüte
cap | Mütze | f | Mützen
scarf | Schal | m | Schals
suit | Anzug | m | Anzüge
belt | Gürtel | m | Gürtel
tie | Krawatte | f | Krawatten
"""
THINGS = """
house | Haus | n | Häuser
room | Zimmer | n | Zimmer
apartment | Wohnung | f | Wohnungen
door | Tür | f | Türen
window | Fenster | n | Fenster
wall | Wand | f | Wände
garden | Garten | m | Gärten
street | Straße | f | Straßen
city | Stadt | f | Städte
village | Dorf | n | Dörfer
country | Land | n | Länder
train | Zug | m | Züge
bus | Bus | m | Busse
plane | Flugzeug | n | Flugzeuge
airplane | Flugzeug | n | Flugzeuge
ship | Schiff | n | Schiffe
boat | Boot | n | Boote
taxi | Taxi | n | Taxis
tree | Baum | m | Bäume
flower | Blume | f | Blumen
mountain | Berg | m | Berge
star | Stern | m | Sterne
word | Wort | n | Wörter
sentence | Satz | m | Sätze
question | Frage | f | Fragen
answer | Antwort | f | Antworten
picture | Bild | n | Bilder
photo | Foto | n | Fotos
letter | Brief | m | Briefe
song | Lied | n | Lieder
game | Spiel | n | Spiele
film | Film | m | Filme
movie | Film | m | Filme
story | Geschichte | f | Geschichten
dream | Traum | m | Träume
idea | Idee | f | Ideen
problem | Problem | n | Probleme
hour | Stunde | f | Stunden
minute | Minute | f | Minuten
day | Tag | m | Tage
week | Woche | f | Wochen
month | Monat | m | Monate
year | Jahr | n | Jahre
color | Farbe | f | Farben
colour | Farbe | f | Farben
number | Zahl | f | Zahlen
name | Name | m | Namen
heart | Herz | n | Herzen
head | Kopf | m | Köpfe
hand | Hand | f | Hände
eye | Auge | n | Augen
ear | Ohr | n | Ohren
nose | Nase | f | Nasen
mouth | Mund | m | Münder
foot | Fuß | m | Füße
leg | Bein | n | Beine
arm | Arm | m | Arme
tooth | Zahn | m | Zähne
hobby | Hobby | n | Hobbys
party | Party | f | Partys
meeting | Besprechung | f | Besprechungen
job | Job | m | Jobs
world | Welt | f | Welten
"""
ANIMALS = """
dog | Hund | m | Hunde
cat | Katze | f | Katzen
bird | Vogel | m | Vögel
horse | Pferd | n | Pferde
cow | Kuh | f | Kühe
pig | Schwein | n | Schweine
sheep | Schaf | n | Schafe
mouse | Maus | f | Mäuse
rabbit | Kaninchen | n | Kaninchen
lion | Löwe | m | Löwen
bear | Bär | m | Bären
elephant | Elefant | m | Elefanten
monkey | Affe | m | Affen
duck | Ente | f | Enten
chicken | Huhn | n | Hühner
fish | Fisch | m | Fische
animal | Tier | n | Tiere
bee | Biene | f | Bienen
spider | Spinne | f | Spinnen
snake | Schlange | f | Schlangen
"""
PEOPLE = """
man | Mann | m | Männer
woman | Frau | f | Frauen
boy | Junge | m | Jungen
girl | Mädchen | n | Mädchen
child | Kind | n | Kinder
baby | Baby | n | Babys
friend | Freund | m | Freunde
neighbor | Nachbar | m | Nachbarn
boss | Chef | m | Chefs
guest | Gast | m | Gäste
person | Person | f | Personen
doctor | Arzt | m | Ärzte
teacher | Lehrer | m | Lehrer
student | Student | m | Studenten
customer | Kunde | m | Kunden
king | König | m | Könige
queen | Königin | f | Königinnen
"""
FAMILY = """
mother | Mutter | f | Mütter
father | Vater | m | Väter
mom | Mama | f | -
dad | Papa | m | -
brother | Bruder | m | Brüder
sister | Schwester | f | Schwestern
son | Sohn | m | Söhne
daughter | Tochter | f | Töchter
grandmother | Großmutter | f | Großmütter
grandfather | Großvater | m | Großväter
grandma | Oma | f | Omas
grandpa | Opa | m | Opas
uncle | Onkel | m | Onkel
aunt | Tante | f | Tanten
cousin | Cousin | m | Cousins
husband | Mann | m | -
wife | Frau | f | -
girlfriend | Freundin | f | Freundinnen
boyfriend | Freund | m | -
"""
FOOD_NOUNS = """
apple | Apfel | m | Äpfel
banana | Banane | f | Bananen
orange | Orange | f | Orangen
lemon | Zitrone | f | Zitronen
strawberry | Erdbeere | f | Erdbeeren
cherry | Kirsche | f | Kirschen
potato | Kartoffel | f | Kartoffeln
tomato | Tomate | f | Tomaten
onion | Zwiebel | f | Zwiebeln
egg | Ei | n | Eier
cake | Kuchen | m | Kuchen
sandwich | Sandwich | n | Sandwiches
soup | Suppe | f | Suppen
salad | Salat | m | Salate
sausage | Wurst | f | Würste
pizza | Pizza | f | Pizzen
menu | Speisekarte | f | Speisekarten
bill | Rechnung | f | Rechnungen
meal | Mahlzeit | f | Mahlzeiten
"""
ITEM_TEMPLATES = """
How much is the ITEM? | Was kostet THE_NOM?
How much does the ITEM cost? | Wie viel kostet THE_NOM?
How much is this ITEM? | Was kostet THIS_NOM?
How much does this ITEM cost? | Wie viel kostet THIS_NOM?
how much is the ITEM | was kostet THE_NOM
I'd like to buy A_ITEM. | Ich möchte EIN_ACC kaufen.
I want to buy A_ITEM. | Ich will EIN_ACC kaufen.
I'm looking for A_ITEM. | Ich suche EIN_ACC.
Where can I buy A_ITEM? | Wo kann ich EIN_ACC kaufen?
I need A_ITEM. | Ich brauche EIN_ACC.
I need a new ITEM. | Ich brauche EIN_NEW_ACC.
I have A_ITEM. | Ich habe EIN_ACC.
I have a new ITEM. | Ich habe EIN_NEW_ACC.
I don't have A_ITEM. | Ich habe KEIN_ACC.
Do you have A_ITEM? | Hast du EIN_ACC?
Do you have A_ITEM? | Haben Sie EIN_ACC?
He has A_ITEM. | Er hat EIN_ACC.
She has a new ITEM. | Sie hat EIN_NEW_ACC.
This is my ITEM. | Das ist MEIN_NOM.
Is this your ITEM? | Ist das DEIN_NOM?
Is this your ITEM? | Ist das IHR_NOM?
That's not my ITEM. | Das ist nicht MEIN_NOM.
Where is my ITEM? | Wo ist MEIN_NOM?
Where is your ITEM? | Wo ist DEIN_NOM?
Where is the ITEM? | Wo ist THE_NOM?
I lost my ITEM. | Ich habe MEIN_ACC verloren.
I can't find my ITEM. | Ich kann MEIN_ACC nicht finden.
I forgot my ITEM. | Ich habe MEIN_ACC vergessen.
My ITEM is broken. | MEIN_NOM ist kaputt.
My ITEM is gone. | MEIN_NOM ist weg.
Give me the ITEM. | Gib mir THE_ACC.
Please give me the ITEM. | Gib mir bitte THE_ACC.
Give me my ITEM! | Gib mir MEIN_ACC!
Show me the ITEM. | Zeig mir THE_ACC.
Can I have the ITEM? | Kann ich THE_ACC haben?
I like this ITEM. | Mir gefällt THIS_NOM.
I like your ITEM. | DEIN_NOM gefällt mir.
I'll take this ITEM. | Ich nehme THIS_ACC.
The ITEM is here. | THE_NOM ist hier.
The ITEM is beautiful. | THE_NOM ist schön.
What is this? It's A_ITEM. | Was ist das? Das ist EIN_NOM.
It's A_ITEM. | Es ist EIN_NOM.
This is A_ITEM. | Das ist EIN_NOM.
"""
COLORS = """
red | rot
blue | blau
green | grün
yellow | gelb
black | schwarz
white | weiß
brown | braun
grey | grau
"""
ITEM_ADJECTIVES = """
expensive | teuer
small | klein
big | groß
old | alt
heavy | schwer
"""
PRICE_TEMPLATES = """
It costs PRICE. | Es kostet PRICE.
That costs PRICE. | Das kostet PRICE.
That's PRICE, please. | Das macht PRICE, bitte.
That will be PRICE. | Das macht PRICE.
Here are PRICE. | Hier sind PRICE.
I have PRICE. | Ich habe PRICE.
Only PRICE! | Nur PRICE!
PRICE | PRICE
"""

# en | de (accusative)
ORDERS = """
a coffee | einen Kaffee
a cup of tea | eine Tasse Tee
a cup of coffee | eine Tasse Kaffee
a tea | einen Tee
a beer | ein Bier
a glass of wine | ein Glas Wein
a glass of red wine | ein Glas Rotwein
a glass of water | ein Glas Wasser
a glass of milk | ein Glas Milch
a bottle of water | eine Flasche Wasser
a bottle of wine | eine Flasche Wein
a mineral water | ein Mineralwasser
an orange juice | einen Orangensaft
an apple juice | einen Apfelsaft
a cola | eine Cola
a hot chocolate | eine heiße Schokolade
a cappuccino | einen Cappuccino
an espresso | einen Espresso
a pizza | eine Pizza
a salad | einen Salat
a soup | eine Suppe
a sandwich | ein Sandwich
a hamburger | einen Hamburger
a steak | ein Steak
a piece of cake | ein Stück Kuchen
an ice cream | ein Eis
an apple | einen Apfel
a sausage | eine Wurst
some bread | etwas Brot
some water | etwas Wasser
some milk | etwas Milch
something to drink | etwas zu trinken
something to eat | etwas zu essen
the fish | den Fisch
the soup | die Suppe
the chicken | das Hähnchen
the menu | die Speisekarte
the bill | die Rechnung
the dessert | den Nachtisch
a spoon | einen Löffel
a fork | eine Gabel
another coffee | noch einen Kaffee
another glass of wine | noch ein Glas Wein
"""
ORDER_TEMPLATES = """
FOOD, please. | FOOD, bitte.
FOOD please | FOOD bitte
I'd like FOOD. | Ich hätte gern FOOD.
I'd like FOOD, please. | Ich hätte gern FOOD, bitte.
I would like FOOD. | Ich möchte FOOD.
We'd like FOOD. | Wir hätten gern FOOD.
I'll have FOOD. | Ich nehme FOOD.
I'll have FOOD, please. | Ich nehme FOOD, bitte.
I want FOOD. | Ich will FOOD.
Can I have FOOD? | Kann ich FOOD haben?
Can I have FOOD, please? | Kann ich bitte FOOD haben?
Could I have FOOD, please? | Könnte ich bitte FOOD haben?
May I have FOOD, please? | Dürfte ich bitte FOOD haben?
Could you bring me FOOD, please? | Könnten Sie mir bitte FOOD bringen?
Would you like FOOD? | Möchtest du FOOD?
Would you like FOOD? | Möchten Sie FOOD?
Do you want FOOD? | Willst du FOOD?
I need FOOD. | Ich brauche FOOD.
Give me FOOD, please. | Geben Sie mir bitte FOOD.
Excuse me, FOOD, please. | Entschuldigung, FOOD, bitte.
"""
MASS_FOOD = """
coffee | Kaffee | m
tea | Tee | m
beer | Bier | n
wine | Wein | m
red wine | Rotwein | m
milk | Milch | f
water | Wasser | n
juice | Saft | m
bread | Brot | n
cheese | Käse | m
meat | Fleisch | n
fish | Fisch | m
chicken | Hähnchen | n
rice | Reis | m
pizza | Pizza | f
soup | Suppe | f
salad | Salat | m
fruit | Obst | n
chocolate | Schokolade | f
ice cream | Eis | n
cake | Kuchen | m
sugar | Zucker | m
"""
MASS_TEMPLATES = """
I like FOOD. | Ich mag FOOD.
i like FOOD | ich mag FOOD
I love FOOD. | Ich liebe FOOD.
I don't like FOOD. | Ich mag KEIN_ACC.
i don't like FOOD | ich mag KEIN_ACC
Do you like FOOD? | Magst du FOOD?
Do you like FOOD? | Mögen Sie FOOD?
Do you like FOOD? | Mögt ihr FOOD?
He likes FOOD. | Er mag FOOD.
She doesn't like FOOD. | Sie mag KEIN_ACC.
We like FOOD. | Wir mögen FOOD.
I like FOOD very much. | Ich mag FOOD sehr.
I need FOOD. | Ich brauche FOOD.
We have no FOOD. | Wir haben KEIN_ACC.
Do you have FOOD? | Haben Sie FOOD?
Is there any FOOD? | Gibt es FOOD?
Do you want some FOOD? | Möchtest du etwas FOOD?
More FOOD, please. | Mehr FOOD, bitte.
FOOD, please. | FOOD, bitte.
The FOOD is good. | THE_NOM ist gut.
The FOOD was very good. | THE_NOM war sehr gut.
Where is the FOOD? | Wo ist THE_NOM?
How much is the FOOD? | Was kostet THE_NOM?
No FOOD, thank you. | KEIN_ACC, danke.
"""
COUNTED_ORDERS = """
beers | Bier
coffees | Kaffee
teas | Tee
pizzas | Pizzen
apples | Äpfel
tickets | Fahrkarten
sandwiches | Sandwiches
glasses of wine | Gläser Wein
cups of coffee | Tassen Kaffee
bottles of water | Flaschen Wasser
eggs | Eier
"""

ORDINALS_EN = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS_DE = "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte"
WHO = """
He | Er
She | Sie
Tom | Tom
My brother | Mein Bruder
My sister | Meine Schwester
My son | Mein Sohn
My daughter | Meine Tochter
My mother | Meine Mutter
"""
TIME_TEMPLATES = """
Let's meet at TIME. | Treffen wir uns um TIME.
We meet at TIME. | Wir treffen uns um TIME.
I get up at TIME. | Ich stehe um TIME auf.
I'll come at TIME. | Ich komme um TIME.
The train leaves at TIME. | Der Zug fährt um TIME ab.
The train arrives at TIME. | Der Zug kommt um TIME an.
The bus leaves at TIME. | Der Bus fährt um TIME ab.
Dinner is at TIME. | Um TIME gibt es Abendessen.
The meeting is at TIME. | Die Besprechung ist um TIME.
The movie starts at TIME. | Der Film fängt um TIME an.
The shop opens at TIME. | Das Geschäft öffnet um TIME.
Can you come at TIME? | Kannst du um TIME kommen?
Please wake me at TIME. | Bitte wecken Sie mich um TIME.
I have an appointment at TIME. | Ich habe um TIME einen Termin.
Call me at TIME. | Ruf mich um TIME an.
See you tomorrow at TIME. | Bis morgen um TIME.
"""
DURATIONS = """
one minute | einer Minute
five minutes | fünf Minuten
5 minutes | 5 Minuten
ten minutes | zehn Minuten
15 minutes | 15 Minuten
twenty minutes | zwanzig Minuten
half an hour | einer halben Stunde
an hour | einer Stunde
one hour | einer Stunde
two hours | zwei Stunden
3 hours | 3 Stunden
a day | einem Tag
two days | zwei Tagen
three days | drei Tagen
a week | einer Woche
two weeks | zwei Wochen
a month | einem Monat
six months | sechs Monaten
a year | einem Jahr
two years | zwei Jahren
ten years | zehn Jahren
"""
DURATION_TEMPLATES = """
In SPAN. | In SPAN.
See you in SPAN. | Bis in SPAN.
I'll be there in SPAN. | Ich bin in SPAN da.
I'll be back in SPAN. | Ich bin in SPAN zurück.
I'm coming in SPAN. | Ich komme in SPAN.
The train leaves in SPAN. | Der Zug fährt in SPAN ab.
It starts in SPAN. | Es fängt in SPAN an.
SPAN ago | vor SPAN
That was SPAN ago. | Das war vor SPAN.
I've been here for SPAN. | Ich bin seit SPAN hier.
Call me in SPAN. | Ruf mich in SPAN an.
"""
WEEKDAYS = """
Monday | Montag
Tuesday | Dienstag
Wednesday | Mittwoch
Thursday | Donnerstag
Friday | Freitag
Saturday | Samstag
Sunday | Sonntag
"""
DAY_TEMPLATES = """
on DAY | am DAY
On DAY | Am DAY
Today is DAY. | Heute ist DAY.
It's DAY. | Es ist DAY.
Tomorrow is DAY. | Morgen ist DAY.
Yesterday was DAY. | Gestern war DAY.
Is today DAY? | Ist heute DAY?
See you on DAY. | Bis DAY.
See you on DAY! | Bis DAY!
see you on DAY | bis DAY
See you DAY! | Bis DAY!
See you next DAY. | Bis nächsten DAY.
Next DAY | Nächsten DAY
Last DAY | Letzten DAY
Every DAY | Jeden DAY
Until DAY | Bis DAY
On DAY morning | Am DAYmorgen
On DAY evening | Am DAYabend
DAY evening | DAYabend
Are you free on DAY? | Hast du am DAY Zeit?
I have no time on DAY. | Ich habe am DAY keine Zeit.
I'm free on DAY. | Ich habe am DAY frei.
Let's meet on DAY. | Treffen wir uns am DAY.
I'll call you on DAY. | Ich rufe dich am DAY an.
What are you doing on DAY? | Was machst du am DAY?
We're closed on DAY. | Wir haben am DAY geschlossen.
My birthday is on DAY. | Ich habe am DAY Geburtstag.
I don't work on DAY. | Ich arbeite am DAY nicht.
Have a nice DAY! | Schönen DAY!
The party is on DAY. | Die Party ist am DAY.
I'm coming on DAY. | Ich komme am DAY.
"""
MONTHS = """
January | Januar
February | Februar
March | März
April | April
May | Mai
June | Juni
July | Juli
August | August
September | September
October | Oktober
November | November
December | Dezember
"""
MONTH_TEMPLATES = """
in MONTH | im MONTH
In MONTH | Im MONTH
It's MONTH. | Es ist MONTH.
See you in MONTH. | Bis MONTH.
My birthday is in MONTH. | Ich habe im MONTH Geburtstag.
My birthday is in MONTH. | Mein Geburtstag ist im MONTH.
I was born in MONTH. | Ich wurde im MONTH geboren.
Next MONTH | Nächsten MONTH
Last MONTH | Letzten MONTH
I'm on holiday in MONTH. | Ich habe im MONTH Urlaub.
It's cold in MONTH. | Im MONTH ist es kalt.
It's warm in MONTH. | Im MONTH ist es warm.
We're coming in MONTH. | Wir kommen im MONTH.
"""
WEATHER_ADJECTIVES = """
cold | kalt
hot | heiß
warm | warm
cool | kühl
windy | windig
cloudy | bewölkt
foggy | neblig
sunny | sonnig
stormy | stürmisch
icy | eisig
dark | dunkel
dry | trocken
wet | nass
humid | schwül
nice | schön
"""
WEATHER_TEMPLATES = """
It's ADJ. | Es ist ADJ.
It is ADJ. | Es ist ADJ.
it's ADJ | es ist ADJ
It's ADJ today. | Heute ist es ADJ.
It's ADJ today. | Es ist heute ADJ.
It's very ADJ today. | Heute ist es sehr ADJ.
It's so ADJ! | Es ist so ADJ!
It's too ADJ. | Es ist zu ADJ.
It's very ADJ. | Es ist sehr ADJ.
It's not ADJ. | Es ist nicht ADJ.
It's ADJ outside. | Draußen ist es ADJ.
It's ADJ here. | Hier ist es ADJ.
It was ADJ yesterday. | Gestern war es ADJ.
It will be ADJ tomorrow. | Morgen wird es ADJ.
It's getting ADJ. | Es wird ADJ.
Is it ADJ? | Ist es ADJ?
Is it ADJ outside? | Ist es draußen ADJ?
Was it ADJ? | War es ADJ?
"""
BODY = """
head | Kopf | m
back | Rücken | m
leg | Bein | n
arm | Arm | m
foot | Fuß | m
knee | Knie | n
hand | Hand | f
finger | Finger | m
neck | Nacken | m
shoulder | Schulter | f
throat | Hals | m
tooth | Zahn | m
ear | Ohr | n
nose | Nase | f
toe | Zeh | m
belly | Bauch | m
eyes | Augen | p
feet | Füße | p
legs | Beine | p
ears | Ohren | p
"""
AILMENTS = """
a headache | Kopfschmerzen
a toothache | Zahnschmerzen
a sore throat | Halsschmerzen
a stomachache | Bauchschmerzen
back pain | Rückenschmerzen
an earache | Ohrenschmerzen
a fever | Fieber
a cough | Husten
a cold | eine Erkältung
the flu | die Grippe
an allergy | eine Allergie
diarrhea | Durchfall
chest pain | Brustschmerzen
a runny nose | Schnupfen
pain | Schmerzen
"""
# en | man | woman
JOBS = """
doctor | Arzt | Ärztin
teacher | Lehrer | Lehrerin
student | Student | Studentin
nurse | Krankenpfleger | Krankenschwester
engineer | Ingenieur | Ingenieurin
lawyer | Anwalt | Anwältin
cook | Koch | Köchin
driver | Fahrer | Fahrerin
police officer | Polizist | Polizistin
baker | Bäcker | Bäckerin
farmer | Bauer | Bäuerin
artist | Künstler | Künstlerin
musician | Musiker | Musikerin
singer | Sänger | Sängerin
actor | Schauspieler | Schauspielerin
writer | Schriftsteller | Schriftstellerin
journalist | Journalist | Journalistin
programmer | Programmierer | Programmiererin
scientist | Wissenschaftler | Wissenschaftlerin
dentist | Zahnarzt | Zahnärztin
hairdresser | Friseur | Friseurin
salesperson | Verkäufer | Verkäuferin
architect | Architekt | Architektin
mechanic | Mechaniker | Mechanikerin
pilot | Pilot | Pilotin
soldier | Soldat | Soldatin
translator | Übersetzer | Übersetzerin
gardener | Gärtner | Gärtnerin
pupil | Schüler | Schülerin
"""
FAMILY_TEMPLATES = """
This is my ITEM. | Das ist MEIN_NOM.
That's my ITEM. | Das ist MEIN_NOM.
Is that your ITEM? | Ist das DEIN_NOM?
My ITEM is called NAME. | MEIN_NOM heißt NAME.
My ITEM's name is NAME. | MEIN_NOM heißt NAME.
What's your ITEM's name? | Wie heißt DEIN_NOM?
What's your ITEM's name? | Wie heißt IHR_NOM?
How old is your ITEM? | Wie alt ist DEIN_NOM?
How is your ITEM? | Wie geht es DEIN_DAT?
How is your ITEM? | Wie geht es IHR_DAT?
Where is your ITEM? | Wo ist DEIN_NOM?
Where does your ITEM live? | Wo wohnt DEIN_NOM?
What does your ITEM do? | Was macht DEIN_NOM?
I have A_ITEM. | Ich habe EIN_ACC.
I don't have A_ITEM. | Ich habe KEIN_ACC.
Do you have A_ITEM? | Hast du EIN_ACC?
Do you have A_ITEM? | Haben Sie EIN_ACC?
I love my ITEM. | Ich liebe MEIN_ACC.
I miss my ITEM. | Ich vermisse MEIN_ACC.
Say hello to your ITEM. | Grüß DEIN_ACC von mir.
I live with my ITEM. | Ich wohne bei MEIN_DAT.
My ITEM is at home. | MEIN_NOM ist zu Hause.
My ITEM is ill. | MEIN_NOM ist krank.
My ITEM is fine. | MEIN_DAT geht es gut.
My ITEM lives in Berlin. | MEIN_NOM wohnt in Berlin.
My ITEM works in a hospital. | MEIN_NOM arbeitet in einem Krankenhaus.
My ITEM is very nice. | MEIN_NOM ist sehr nett.
"""
STATES = """
tired | müde | plain
sad | traurig | gradable
happy | glücklich | gradable
angry | wütend | gradable
sick | krank | plain
healthy | gesund | plain
ready | bereit | plain
late | spät dran | plain
nervous | nervös | gradable
proud | stolz | gradable
surprised | überrascht | plain
satisfied | zufrieden | plain
alone | allein | plain
lonely | einsam | gradable
busy | beschäftigt | gradable
married | verheiratet | plain
rich | reich | plain
poor | arm | plain
young | jung | plain
old | alt | plain
sure | sicher | plain
curious | neugierig | gradable
excited | aufgeregt | gradable
disappointed | enttäuscht | gradable
worried | besorgt | gradable
crazy | verrückt | gradable
nice | nett | gradable
friendly | freundlich | gradable
drunk | betrunken | plain
awake | wach | plain
here | hier | plain
at home | zu Hause | plain
in love | verliebt | plain
on holiday | im Urlaub | plain
"""
HAVE_STATES = """
hungry | Hunger
thirsty | Durst
afraid | Angst
scared | Angst
"""

# en | third person | past | -ing | infinitive | du | er | perfect | rest | negated rest | separable prefix
VERBS = """
work | works | worked | working | arbeiten | arbeitest | arbeitet | habe gearbeitet | | nicht |
sleep | sleeps | slept | sleeping | schlafen | schläfst | schläft | habe geschlafen | | nicht |
eat | eats | ate | eating | essen | isst | isst | habe gegessen | | nicht |
cook | cooks | cooked | cooking | kochen | kochst | kocht | habe gekocht | | nicht |
read | reads | read | reading | lesen | liest | liest | habe gelesen | | nicht |
dance | dances | danced | dancing | tanzen | tanzt | tanzt | habe getanzt | | nicht |
sing | sings | sang | singing | singen | singst | singt | habe gesungen | | nicht |
swim | swims | swam | swimming | schwimmen | schwimmst | schwimmt | bin geschwommen | | nicht |
smoke | smokes | smoked | smoking | rauchen | rauchst | raucht | habe geraucht | | nicht |
laugh | laughs | laughed | laughing | lachen | lachst | lacht | habe gelacht | | nicht |
cry | cries | cried | crying | weinen | weinst | weint | habe geweint | | nicht |
travel | travels | traveled | traveling | reisen | reist | reist | bin gereist | | nicht |
wait | waits | waited | waiting | warten | wartest | wartet | habe gewartet | | nicht |
drive | drives | drove | driving | fahren | fährst | fährt | bin gefahren | | nicht |
drink coffee | drinks coffee | drank coffee | drinking coffee | trinken | trinkst | trinkt | habe getrunken | Kaffee | keinen Kaffee |
drink beer | drinks beer | drank beer | drinking beer | trinken | trinkst | trinkt | habe getrunken | Bier | kein Bier |
drink tea | drinks tea | drank tea | drinking tea | trinken | trinkst | trinkt | habe getrunken | Tee | keinen Tee |
drink water | drinks water | drank water | drinking water | trinken | trinkst | trinkt | habe getrunken | Wasser | kein Wasser |
eat meat | eats meat | ate meat | eating meat | essen | isst | isst | habe gegessen | Fleisch | kein Fleisch |
eat fish | eats fish | ate fish | eating fish | essen | isst | isst | habe gegessen | Fisch | keinen Fisch |
eat breakfast | eats breakfast | ate breakfast | eating breakfast | frühstücken | frühstückst | frühstückt | habe gefrühstückt | | nicht |
play football | plays football | played football | playing football | spielen | spielst | spielt | habe gespielt | Fußball | keinen Fußball |
play soccer | plays soccer | played soccer | playing soccer | spielen | spielst | spielt | habe gespielt | Fußball | keinen Fußball |
play tennis | plays tennis | played tennis | playing tennis | spielen | spielst | spielt | habe gespielt | Tennis | kein Tennis |
play the piano | plays the piano | played the piano | playing the piano | spielen | spielst | spielt | habe gespielt | Klavier | kein Klavier |
play the guitar | plays the guitar | played the guitar | playing the guitar | spielen | spielst | spielt | habe gespielt | Gitarre | keine Gitarre |
play chess | plays chess | played chess | playing chess | spielen | spielst | spielt | habe gespielt | Schach | kein Schach |
learn German | learns German | learned German | learning German | lernen | lernst | lernt | habe gelernt | Deutsch | kein Deutsch |
speak English | speaks English | spoke English | speaking English | sprechen | sprichst | spricht | habe gesprochen | Englisch | kein Englisch |
listen to music | listens to music | listened to music | listening to music | hören | hörst | hört | habe gehört | Musik | keine Musik |
watch TV | watches TV | watched TV | watching TV | sehen | siehst | sieht | habe ferngesehen | | nicht | fern
go shopping | goes shopping | went shopping | going shopping | gehen | gehst | geht | bin gegangen | einkaufen | nicht einkaufen |
go home | goes home | went home | going home | gehen | gehst | geht | bin gegangen | nach Hause | nicht nach Hause |
go to school | goes to school | went to school | going to school | gehen | gehst | geht | bin gegangen | in die Schule | nicht in die Schule |
go to the cinema | goes to the cinema | went to the cinema | going to the cinema | gehen | gehst | geht | bin gegangen | ins Kino | nicht ins Kino |
go to bed | goes to bed | went to bed | going to bed | gehen | gehst | geht | bin gegangen | ins Bett | nicht ins Bett |
go to work | goes to work | went to work | going to work | gehen | gehst | geht | bin gegangen | zur Arbeit | nicht zur Arbeit |
go for a walk | goes for a walk | went for a walk | going for a walk | gehen | gehst | geht | bin gegangen | spazieren | nicht spazieren |
get up early | gets up early | got up early | getting up early | stehen | stehst | steht | bin aufgestanden | früh | nicht früh | auf
ride a bike | rides a bike | rode a bike | riding a bike | fahren | fährst | fährt | bin gefahren | Fahrrad | nicht Fahrrad |
write a letter | writes a letter | wrote a letter | writing a letter | schreiben | schreibst | schreibt | habe geschrieben | einen Brief | keinen Brief |
read a book | reads a book | read a book | reading a book | lesen | liest | liest | habe gelesen | ein Buch | kein Buch |
read the newspaper | reads the newspaper | read the newspaper | reading the newspaper | lesen | liest | liest | habe gelesen | die Zeitung | die Zeitung nicht |
buy a car | buys a car | bought a car | buying a car | kaufen | kaufst | kauft | habe gekauft | ein Auto | kein Auto |
buy bread | buys bread | bought bread | buying bread | kaufen | kaufst | kauft | habe gekauft | Brot | kein Brot |
help him | helps him | helped him | helping him | helfen | hilfst | hilft | habe geholfen | ihm | ihm nicht |
help her | helps her | helped her | helping her | helfen | hilfst | hilft | habe geholfen | ihr | ihr nicht |
take the bus | takes the bus | took the bus | taking the bus | nehmen | nimmst | nimmt | habe genommen | den Bus | den Bus nicht |
take a shower | takes a shower | took a shower | taking a shower | duschen | duschst | duscht | habe geduscht | | nicht |
come home | comes home | came home | coming home | kommen | kommst | kommt | bin gekommen | nach Hause | nicht nach Hause |
come back | comes back | came back | coming back | kommen | kommst | kommt | bin zurückgekommen | | nicht | zurück
stay here | stays here | stayed here | staying here | bleiben | bleibst | bleibt | bin geblieben | hier | nicht hier |
live here | lives here | lived here | living here | wohnen | wohnst | wohnt | habe gewohnt | hier | nicht hier |
pay cash | pays cash | paid cash | paying cash | zahlen | zahlst | zahlt | habe gezahlt | bar | nicht bar |
see the dog | sees the dog | saw the dog | seeing the dog | sehen | siehst | sieht | habe gesehen | den Hund | den Hund nicht |
open the window | opens the window | opened the window | opening the window | öffnen | öffnest | öffnet | habe geöffnet | das Fenster | das Fenster nicht |
ask the teacher | asks the teacher | asked the teacher | asking the teacher | fragen | fragst | fragt | habe gefragt | den Lehrer | den Lehrer nicht |
visit grandma | visits grandma | visited grandma | visiting grandma | besuchen | besuchst | besucht | habe besucht | Oma | Oma nicht |
call him | calls him | called him | calling him | rufen | rufst | ruft | habe angerufen | ihn | ihn nicht | an
do the laundry | does the laundry | did the laundry | doing the laundry | waschen | wäschst | wäscht | habe gewaschen | die Wäsche | die Wäsche nicht |
clean the room | cleans the room | cleaned the room | cleaning the room | putzen | putzt | putzt | habe geputzt | das Zimmer | das Zimmer nicht |
"""

# en | du with bitte | Sie with bitte | infinitive
REQUESTS = """
open the window | öffne bitte das Fenster | öffnen Sie bitte das Fenster | das Fenster öffnen
open the door | öffne bitte die Tür | öffnen Sie bitte die Tür | die Tür öffnen
close the door | mach bitte die Tür zu | machen Sie bitte die Tür zu | die Tür zumachen
close the window | mach bitte das Fenster zu | machen Sie bitte das Fenster zu | das Fenster zumachen
wait here | warte bitte hier | warten Sie bitte hier | hier warten
wait for me | warte bitte auf mich | warten Sie bitte auf mich | auf mich warten
wait outside | warte bitte draußen | warten Sie bitte draußen | draußen warten
come with me | komm bitte mit mir | kommen Sie bitte mit mir | mit mir kommen
come back tomorrow | komm bitte morgen wieder | kommen Sie bitte morgen wieder | morgen wiederkommen
come here | komm bitte hierher | kommen Sie bitte hierher | hierherkommen
call me tomorrow | ruf mich bitte morgen an | rufen Sie mich bitte morgen an | mich morgen anrufen
call me back | ruf mich bitte zurück | rufen Sie mich bitte zurück | mich zurückrufen
call a taxi | ruf bitte ein Taxi | rufen Sie bitte ein Taxi | ein Taxi rufen
call a doctor | ruf bitte einen Arzt | rufen Sie bitte einen Arzt | einen Arzt rufen
speak louder | sprich bitte lauter | sprechen Sie bitte lauter | lauter sprechen
speak slowly | sprich bitte langsam | sprechen Sie bitte langsam | langsam sprechen
speak a little more slowly | sprich bitte etwas langsamer | sprechen Sie bitte etwas langsamer | etwas langsamer sprechen
say it again | sag es bitte noch einmal | sagen Sie es bitte noch einmal | es noch einmal sagen
repeat that | wiederhole das bitte | wiederholen Sie das bitte | das wiederholen
write it down | schreib es bitte auf | schreiben Sie es bitte auf | es aufschreiben
write to me | schreib mir bitte | schreiben Sie mir bitte | mir schreiben
show me the way | zeig mir bitte den Weg | zeigen Sie mir bitte den Weg | mir den Weg zeigen
show me the room | zeig mir bitte das Zimmer | zeigen Sie mir bitte das Zimmer | mir das Zimmer zeigen
tell me the time | sag mir bitte die Uhrzeit | sagen Sie mir bitte die Uhrzeit | mir die Uhrzeit sagen
tell me your name | sag mir bitte deinen Namen | sagen Sie mir bitte Ihren Namen | mir Ihren Namen sagen
give me the salt | gib mir bitte das Salz | geben Sie mir bitte das Salz | mir das Salz geben
give me the key | gib mir bitte den Schlüssel | geben Sie mir bitte den Schlüssel | mir den Schlüssel geben
give me your number | gib mir bitte deine Nummer | geben Sie mir bitte Ihre Nummer | mir Ihre Nummer geben
bring me the menu | bring mir bitte die Speisekarte | bringen Sie mir bitte die Speisekarte | mir die Speisekarte bringen
bring me the bill | bring mir bitte die Rechnung | bringen Sie mir bitte die Rechnung | mir die Rechnung bringen
bring me a chair | bring mir bitte einen Stuhl | bringen Sie mir bitte einen Stuhl | mir einen Stuhl bringen
take a photo | mach bitte ein Foto | machen Sie bitte ein Foto | ein Foto machen
take a photo of us | mach bitte ein Foto von uns | machen Sie bitte ein Foto von uns | ein Foto von uns machen
turn off the light | mach bitte das Licht aus | machen Sie bitte das Licht aus | das Licht ausmachen
turn on the light | mach bitte das Licht an | machen Sie bitte das Licht an | das Licht anmachen
turn down the music | mach bitte die Musik leiser | machen Sie bitte die Musik leiser | die Musik leiser machen
help my friend | hilf bitte meinem Freund | helfen Sie bitte meinem Freund | meinem Freund helfen
help us | hilf uns bitte | helfen Sie uns bitte | uns helfen
follow me | folge mir bitte | folgen Sie mir bitte | mir folgen
sign here | unterschreib bitte hier | unterschreiben Sie bitte hier | hier unterschreiben
stop here | halte bitte hier an | halten Sie bitte hier an | hier anhalten
drive slowly | fahr bitte langsam | fahren Sie bitte langsam | langsam fahren
stand up | steh bitte auf | stehen Sie bitte auf | aufstehen
explain it to me | erklär es mir bitte | erklären Sie es mir bitte | es mir erklären
translate this | übersetze das bitte | übersetzen Sie das bitte | das übersetzen
spell it | buchstabiere es bitte | buchstabieren Sie es bitte | es buchstabieren
clean the room | mach bitte das Zimmer sauber | machen Sie bitte das Zimmer sauber | das Zimmer sauber machen
wash your hands | wasch dir bitte die Hände | waschen Sie sich bitte die Hände | sich die Hände waschen
pay here | zahl bitte hier | zahlen Sie bitte hier | hier zahlen
read this | lies das bitte | lesen Sie das bitte | das lesen
look at this | sieh dir das bitte an | sehen Sie sich das bitte an | sich das ansehen
listen to me | hör mir bitte zu | hören Sie mir bitte zu | mir zuhören
"""
