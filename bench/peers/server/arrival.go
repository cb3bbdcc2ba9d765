package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// A handler of a busy server starts milliseconds after its request has arrived, which is time that the client
// waits. So the kernel stamps what arrives (SO_TIMESTAMPNS, socket(7)), and each read keeps its stamp.

// listen has the kernel stamp what arrives at each connection, which takes the option from its listener. Set
// after the accept, it would miss bytes that had already come.
func listen(address string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) {
			failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
		})
		if err != nil {
			return err
		}
		return failed
	}}
	listener, err := config.Listen(context.Background(), "tcp", address)
	if err != nil {
		return nil, err
	}
	return stampingListener{listener.(*net.TCPListener)}, nil
}

type stampingListener struct{ *net.TCPListener }

func (l stampingListener) Accept() (net.Conn, error) {
	conn, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	raw, err := conn.SyscallConn()
	return &stampedConn{TCPConn: conn, raw: raw}, err
}

type stampedConn struct {
	*net.TCPConn
	raw syscall.RawConn
	// Unix nanoseconds at which the last bytes arrived; 0 before any did.
	arrived atomic.Int64
}

func (c *stampedConn) Read(to []byte) (int, error) {
	if len(to) == 0 {
		return 0, nil
	}
	var control [64]byte
	var n, controls int
	var failed error
	err := c.raw.Read(func(fd uintptr) bool {
		n, controls, _, _, failed = syscall.Recvmsg(int(fd), to, control[:], 0)
		return failed != syscall.EAGAIN
	})
	if err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	if n == 0 {
		return 0, io.EOF
	}
	messages, err := syscall.ParseSocketControlMessage(control[:controls])
	if err != nil {
		return n, err
	}
	for _, message := range messages {
		if message.Header.Level == syscall.SOL_SOCKET && message.Header.Type == syscall.SO_TIMESTAMPNS {
			c.arrived.Store((*syscall.Timespec)(unsafe.Pointer(&message.Data[0])).Nano())
		}
	}
	return n, nil
}

type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// arrivalOf tells when a request arrived, on the clock of time.Now; now, if no read of it has a stamp.
func arrivalOf(r *http.Request) time.Time {
	now := time.Now()
	conn := r.Context().Value(connectionKey{}).(*stampedConn)
	arrived := conn.arrived.Swap(0)
	if arrived == 0 {
		return now
	}
	return now.Add(time.Duration(arrived - now.UnixNano()))
}
