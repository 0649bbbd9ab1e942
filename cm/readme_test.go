//lint:file-ignore SA4006 the README leaves the handling of errors out

package cm_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// readme is the README's example, so that the compiler sees it.
func readme(ctx context.Context, remote cm.RemoteMemory) (*cm.Message, error) {
	l, err := cm.Listen(ctx, "10.0.0.1:7471", nil)
	req, err := l.Accept(ctx)           // peer's address and private data; nothing committed yet
	server, err := req.Accept(ctx, nil) // or req.Reject(data)
	msg, err := server.Recv(ctx)        // msg.Data until msg.Release()

	client, err := cm.Dial(ctx, "10.0.0.1:7471")
	err = client.SendCopy(ctx, []byte("hello"))
	mem, err := client.Alloc(1<<20, cm.RemoteRead|cm.RemoteWrite)
	err = client.Write(ctx, remote, mem.Slice(0, 4096)) // remote: a descriptor the peer sent
	err = client.Close()
	err = mem.Close() // mapped until then, whatever is closed before
	return msg, err
}

// TestReadmeExample: the README shows the lines above.
func TestReadmeExample(t *testing.T) {
	_ = readme // compiling it is the point
	doc, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(doc), "```go\n")
	example, _, _ = strings.Cut(example, "```")
	source, err := os.ReadFile("readme_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, _ := strings.Cut(string(source), "(*cm.Message, error) {\n")
	code, _, _ = strings.Cut(code, "\treturn msg, err")
	code = strings.TrimPrefix(strings.ReplaceAll(code, "\n\t", "\n"), "\t")
	if code != example {
		t.Errorf("the README's example is\n%s\nand this file has\n%s", example, code)
	}
}
